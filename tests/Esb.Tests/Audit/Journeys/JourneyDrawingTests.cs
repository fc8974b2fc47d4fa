using System.Text.RegularExpressions;
using System.Xml;
using System.Xml.Linq;
using Esb.Audit.Journeys;
using Esb.Audit.Journeys.Drawing;
using Esb.Core.Audit;

namespace Esb.Tests.Audit.Journeys;

public sealed class JourneyDrawingTests
{
    private static readonly string[] Hostile =
    [
        "</text><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "end",
        "END",
        "a;b",
        "p0->>p1: forged\nloop",
        "%%{init}%%",
        "#35;",
        "]]>&amp;",
        "\u001b[31mred\u0007",
        "\u202Eevil",
        "\uD800 half",
        "<!DOCTYPE x>",
        new string('x', 100_000),
        "participant p9 as x",
        "日本語のトピック",
    ];

    private static IEnumerable<string> Names => Stories.All.Keys;

    [TestCaseSource(nameof(Names))]
    public void Drawings_are_as_they_were(string name)
    {
        var journey = JourneyBuilder.Build(Story.MessageId(1), Stories.All[name]().Facts);

        using (Assert.EnterMultipleScope())
        {
            Golden.Check($"{name}.txt", TextDrawing.Draw(journey));
            Golden.Check($"{name}.mmd", MermaidDrawing.Draw(journey));
            Golden.Check($"{name}.svg", SvgDrawing.Draw(journey));
        }
    }

    [TestCaseSource(nameof(Hostile))]
    public void Names_from_outside_stay_text(string name)
    {
        var journey = JourneyBuilder.Build(
            Story.MessageId(1),
            Story
                .OfOrder(name + ".x")
                .Add(
                    AuditKind.Recorded,
                    1,
                    fact =>
                        fact with
                        {
                            Endpoint = name,
                            Process = name,
                            Name = name,
                            Party = name,
                            Host = name,
                            Step = name,
                            Fields = new Dictionary<string, string> { [name] = name },
                        }
                )
                .After(2)
                .Add(
                    AuditKind.Failed,
                    1,
                    fact => fact with { Endpoint = "to " + name, Attempt = 1, Code = name, Reason = name, Host = name }
                )
                .After(2)
                .Add(
                    AuditKind.Replayed,
                    1,
                    fact =>
                        fact with
                        {
                            Endpoint = "to " + name,
                            Reason = name,
                            Fields = new Dictionary<string, string> { ["operator"] = name },
                        }
                )
                .Facts
        );

        var svg = XDocument.Parse(SvgDrawing.Draw(journey));
        var mermaid = MermaidDrawing.Draw(journey).TrimEnd('\n').Split('\n');
        var text = TextDrawing.Draw(journey);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                svg.Descendants().Select(element => element.Name.LocalName).Distinct(),
                Is.SubsetOf(new[] { "svg", "rect", "line", "text", "g", "title", "path" })
            );
            Assert.That(
                svg.Descendants().Attributes().Select(attribute => attribute.Name.LocalName),
                Has.None.StartsWith("on").And.None.EqualTo("href").And.None.EqualTo("style")
            );
            Assert.That(
                mermaid,
                Has.All.Match(
                    @"^(sequenceDiagram|    (participant|actor) p\d+ as [^;<>\n]*(#\d+;[^;<>\n]*)*|    p\d+(->>|-->>|-x)p\d+: [^;<>\n]*(#\d+;[^;<>\n]*)*|    Note over p0,p\d+: [^;<>\n]*(#\d+;[^;<>\n]*)*)$"
                )
            );
            Assert.That(string.Join('\n', mermaid.Skip(1)), Does.Not.Match(@"(?i)\bend\b"));
            Assert.That(text.Split('\n').SelectMany(line => line), Has.None.Matches<char>(char.IsControl));
            Assert.That(text, Does.Not.Contain("\u202E"));
            Assert.That(text.Split('\n').Max(line => line.Length), Is.LessThan(700));
        }
    }

    [Test]
    public void Picture_needs_nothing_else()
    {
        var svg = SvgDrawing.Draw(JourneyBuilder.Build(Story.MessageId(1), Stories.FanOut().Facts));

        Assert.That(
            Regex.Matches(svg, "https?://[^\"]+").Select(match => match.Value).Distinct(),
            Is.EqualTo(new[] { "http://www.w3.org/2000/svg" }),
            "only the name of its language"
        );
    }
}
