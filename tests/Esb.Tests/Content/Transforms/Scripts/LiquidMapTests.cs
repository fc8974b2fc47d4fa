using Esb.Content.Transforms;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Tests.Content.Transforms.Scripts;

/// <summary>Maps in Liquid.</summary>
public sealed class LiquidMapTests
{
    [TestCase("text/html", "A&amp;B &lt;x&gt; &quot;q&quot; ü")]
    [TestCase("application/xml", "A&amp;B &lt;x&gt; &quot;q&quot; ü")]
    [TestCase("application/json", "A&B <x> \\\"q\\\" ü")]
    [TestCase("text/plain", "A&B <x> \"q\" ü")]
    [Property("Case", "JSN-17")]
    public void Values_are_escaped_by_the_content_type(string contentType, string expected)
    {
        using var content = Liquid("{{ input.text }}", $""", "contentType": "{contentType}" """);

        Assert.That(content.Make("""{ "text": "A&B <x> \"q\" ü" }"""), Is.EqualTo(expected));
    }

    [Test]
    public void JSON_template_takes_values_whole()
    {
        using var content = Liquid(
            """{ "id": "{{ input.id }}", "lines": {{ input.lines | json }}, "n": {{ input.n }} }""",
            """, "contentType": "application/json" """
        );

        var made = content.Map.Transform(
            ScriptedContent.Call(
                """{ "id": "a\"b", "lines": [{ "sku": "\"", "qty": 2, "on": true, "no": null }], "n": 12345678901234567890 }""",
                "application/json"
            )
        );

        Assert.That(
            made.Body.ReadText(),
            Is.EqualTo("""{ "id": "a\"b", "lines": [{"sku":"\"","qty":2,"on":true,"no":null}], "n": 12345678901234567890 }""")
        );
        Assert.That((made.ContentType, made.Kind), Is.EqualTo(("application/json", MadeKind.Json)));
    }

    [Test]
    public void Template_sees_the_message_and_what_the_step_gives()
    {
        using var content = Liquid(
            """
            {{ input.order['@id'] }} {% for line in input.order.line %}{{ line }};{% endfor %} {{ message.contentType }} {{ headers['x-order'] }} {{ properties.count }} {{ parameters.region }} {{ inputs.crm.name }}
            """
        );
        var call = ScriptedContent.Call(
            "<order id='7'><line>a</line><line>b</line></order>",
            "application/xml",
            context => context.SetProperty("count", 41.0)
        );
        call.Context.Message = call.Context.Message with { Headers = MessageHeaders.Empty.With("X-Order", "9") };

        var made = content.Map.Transform(
            call,
            new MapArgument("region", "north"),
            new MapArgument("crm", MessageBody.FromText("""{ "name": "Zoë" }"""))
        );

        Assert.That(made.Body.ReadText().Trim(), Is.EqualTo("7 a;b; application/xml 9 41 north Zoë"));
        Assert.That(made.ContentType, Is.EqualTo("text/plain; charset=utf-8"));
    }

    [TestCase("a\n{% if x %}", 2)]
    [TestCase("{{ x | }}", 1)]
    [TestCase("\n\n{% include 'other' %}", 3)]
    [TestCase("{% render 'other' %}", 1)]
    public void Template_that_cannot_be_used_is_a_configuration_error_with_its_place(string template, int line)
    {
        using var content = Liquid(template);

        Assert.That(content.Errors.Single().Code, Is.EqualTo("ESB-LQD-COMPILE"));
        Assert.That(content.Errors.Single().Expected, Does.StartWith($"map.liquid, line {line}, column "));
    }

    [TestCase("{% for i in (1..2000000000) %}{% endfor %}")]
    [TestCase("{% for i in (1..100000) %}{% for j in (1..100000) %}{% endfor %}{% endfor %}")]
    [TestCase("{% assign s = 'x' %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}")]
    [TestCase("{% for i in (1..400000) %}a text of some length that fills the output at last, at last{% endfor %}")]
    [CancelAfter(60_000)]
    public void Template_that_runs_away_is_ended(string template)
    {
        using var content = Liquid(template);

        var error = Assert.Throws<EsbException>(() => content.Make("{}"))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-LQD-LIMIT", FaultKind.Internal)));
    }

    [Test]
    public void Unknown_filter_is_an_error() =>
        Assert.That(Assert.Throws<EsbException>(() => Liquid("{{ input | nosuch }}").Make("{}"))!.Code, Is.EqualTo("ESB-LQD-ERROR"));

    private static ScriptedContent Liquid(string template, string settings = "") => new("map.liquid", template, settings);
}
