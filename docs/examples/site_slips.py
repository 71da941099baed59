"""Plan with the dates as planned and with slipped ones, and hold the two against each other."""

import fleetplan

scenario = fleetplan.load_scenario("small-2026")
plans = {
    dates: fleetplan.optimize(fleetplan.with_value(scenario, "rules.site_dates", dates), gap=0.005)
    for dates in ("planned", "slip")
}
for dates, plan in plans.items():
    there = plan.power.groupby("period")["available_mw"].sum()
    print(f"{dates:8} costs {plan.cost_musd:,.0f} M USD with {there.iloc[-1]:,.0f} MW at the end")
print(f"the slip costs {plans['slip'].cost_musd - plans['planned'].cost_musd:,.1f} M USD")
