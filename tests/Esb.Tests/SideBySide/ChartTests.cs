using System.Xml.Linq;
using SideBySide.Measuring;
using SideBySide.Reports;
using SideBySide.Reports.Charts;

namespace Esb.Tests.SideBySide;

public sealed class ChartTests
{
    private static readonly XNamespace Svg = "http://www.w3.org/2000/svg";

    [Test]
    public void The_longest_bar_fills_the_width_and_the_others_are_in_proportion()
    {
        var chart = XElement.Parse(
            BarChart.Write("Rates", [new BarGroup("1K", [new Bar("nginx", 200, "200/s", "peer"), new Bar("ours", 50, "50/s", "ours")])])
        );

        var widths = chart.Elements(Svg + "rect").Select(bar => (double)bar.Attribute("width")!).ToArray();
        Assert.That(widths[1], Is.EqualTo(widths[0] / 4));
    }

    [Test]
    public void Names_cannot_break_the_picture() =>
        Assert.That(
            XElement
                .Parse(BarChart.Write("a < b & c", [new BarGroup("\"", [new Bar("<", 0, "&", "ours")])]))
                .Attribute("aria-label")!
                .Value,
            Is.EqualTo("a < b & c")
        );

    [Test]
    public void Both_colour_schemes_are_provided_for() => Assert.That(BarChart.Write("", []), Does.Contain("prefers-color-scheme: dark"));

    [Test]
    public void A_ratio_at_its_goal_ends_at_the_line()
    {
        var chart = XElement.Parse(GoalChart.Write([Result(Row(0.75, 0.75), Row(1.5, 0.75))]));

        var first = chart.Elements(Svg + "rect").First();
        var end = (double)first.Attribute("x")! + (double)first.Attribute("width")!;
        Assert.That(end, Is.EqualTo((double)chart.Element(Svg + "line")!.Attribute("x1")!).Within(0.1));
    }

    [Test]
    public void What_did_not_run_has_no_bar() =>
        Assert.That(
            XElement.Parse(GoalChart.Write([Result(RowResult.NotRun("S1", "", "", "not run: x"))])).Elements(Svg + "rect"),
            Is.Empty
        );

    [Test]
    public void A_side_that_stands_in_two_rows_has_one_bar()
    {
        var chart = XElement.Parse(RateChart.Write(Result(Row(1, 1), Row(1, 1) with { Peer = "Camel", PeerRate = 30 })));

        Assert.That(
            chart.Elements(Svg + "rect").Select(bar => bar.Attribute("class")!.Value),
            Is.EqualTo((string[])["ours", "peer", "peer"])
        );
    }

    private static RowResult Row(double ratio, double goal) =>
        new("S1", "1K", "≥ nginx", goal, "relay", 80, "nginx", 100, new Spread(ratio, ratio, ratio), ratio >= goal, null, null, null, null);

    private static ScenarioResult Result(params RowResult[] rows) => new("S1", new RunFacts("", "", "", "", ""), [], rows);
}
