using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Tests.Configuration;

public sealed class ValueTests : ConfigurationFixture
{
    [Test, Property("Case", "CFG-06")]
    public void A_misspelt_property_is_refused_with_what_was_probably_meant()
    {
        var error = RefuseOnce(Out("\"procesingThreads\": 2"));

        Assert.That(
            error.ToString(),
            Does.Match(
                """^ESB-CFG-UNKNOWN endpoints\.out\.procesingThreads: unknown; did you mean "processingThreads"\? \(.*esb\.json:1:\d+\)$"""
            )
        );
    }

    [Test, Property("Case", "CFG-06")]
    public void A_property_that_is_near_to_nothing_is_refused_with_the_names_there_are()
    {
        var error = RefuseOnce("""{ "topics": { "orders": { "zzzzzz": 1 } } }""");

        Assert.That(error.Expected, Is.EqualTo("unknown; known here are persistent, key, schema, claimCheck, audit"));
    }

    [Test, Property("Case", "CFG-07")]
    [TestCase("\"poolSize\": \"many\"", "\"many\"", "expected integer 1..1000, got text")]
    [TestCase("\"poolSize\": \"5\"", "\"5\"", "expected integer 1..1000, got text")]
    [TestCase("\"poolSize\": true", "true", "expected integer 1..1000, got a boolean")]
    [TestCase("\"poolSize\": null", "null", "expected integer 1..1000, got null")]
    [TestCase("\"poolSize\": [1]", "[1 items]", "expected integer 1..1000, got a list")]
    [TestCase("\"poolSize\": { \"a\": 1 }", "{…}", "expected integer 1..1000, got an object")]
    [TestCase("\"poolSize\": 1.5", "1.5", "expected integer 1..1000, got a fraction")]
    [TestCase("\"enabled\": \"true\"", "\"true\"", "expected true or false, got text")]
    [TestCase("\"enabled\": 1", "1", "expected true or false, got a number")]
    [TestCase("\"fileName\": 5", "5", "expected text, got a number")]
    [TestCase("\"subscribe\": \"a.b\"", "\"a.b\"", "expected a list, got text")]
    [TestCase("\"retry\": 5", "5", "expected an object, got a number")]
    [TestCase("\"retry\": []", "[0 items]", "expected an object, got a list")]
    public void A_value_of_the_wrong_type_is_refused(string property, string value, string expected)
    {
        var error = RefuseOnce(Out(property));

        Assert.That((error.Code, error.Value, error.Expected), Is.EqualTo(("ESB-CFG-TYPE", value, expected)));
    }

    [Test, Property("Case", "CFG-08")]
    [TestCase("0")]
    [TestCase("-1")]
    [TestCase("100000")]
    public void A_number_out_of_range_is_refused_with_the_range(string number)
    {
        var error = RefuseOnce(Out($"\"poolSize\": {number}"));

        Assert.That(error.Describe(), Does.StartWith($"endpoints.out.poolSize = {number}: expected 1..1000"));
        Assert.That(error.Code, Is.EqualTo("ESB-CFG-RANGE"));
    }

    [Test, Property("Case", "CFG-09")]
    [TestCase("1e400")]
    [TestCase("-1e400")]
    [TestCase("9223372036854775808")]
    public void A_number_that_no_integer_holds_is_out_of_range(string number) =>
        Assert.That(RefuseOnce(Out($"\"poolSize\": {number}")).Code, Is.EqualTo("ESB-CFG-RANGE"));

    [Test, Property("Case", "CFG-10")]
    [TestCase("\"30\"")]
    [TestCase("\"-5s\"")]
    [TestCase("30")]
    [TestCase("\"5 s\"")]
    [TestCase("\"\"")]
    [TestCase("\"99999999999999999999h\"")]
    public void A_duration_that_is_none_is_refused_with_examples(string duration)
    {
        var error = RefuseOnce(Out($"\"timeout\": {duration}"));

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-DURATION"));
        Assert.That(error.Expected, Is.EqualTo("""expected a duration such as "5s" or "2m", 1ms..10m"""));
    }

    [Test, Property("Case", "CFG-10")]
    public void A_duration_out_of_range_is_refused_with_the_range() =>
        Assert.That(
            RefuseOnce(Out("\"timeout\": \"11m\"")).ToString(),
            Does.StartWith("""ESB-CFG-RANGE endpoints.out.timeout = "11m": expected 1ms..10m""")
        );

    [Test, Property("Case", "CFG-11")]
    [TestCase("\"10 Mb b\"")]
    [TestCase("\"4MB\"")]
    [TestCase("4096")]
    public void A_size_that_is_none_is_refused_with_examples(string size)
    {
        var error = RefuseOnce($$"""{ "limits": { "maxBodySize": {{size}} } }""");

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-SIZE"));
        Assert.That(error.Expected, Is.EqualTo("""expected a size such as "64KiB" or "4MiB", 1B..1GiB"""));
    }

    [Test]
    public void A_choice_that_is_none_is_refused_with_the_choices_and_the_nearest() =>
        Assert.That(
            RefuseOnce(Out("\"delivery\": \"orderd\"")).Expected,
            Is.EqualTo("""expected one of parallel, ordered, ordered-by-key; did you mean "ordered"?""")
        );

    [Test]
    public void An_unknown_type_is_refused_with_the_types_and_the_nearest()
    {
        var error = RefuseOnce("""{ "endpoints": { "a": { "type": "file-outbund", "folder": "x" } } }""");

        Assert.That((error.Code, error.Path, error.Value), Is.EqualTo(("ESB-CFG-VALUE", "endpoints.a.type", "\"file-outbund\"")));
        Assert.That(
            error.Expected,
            Is.EqualTo("""expected one of http-inbound, file-inbound, file-outbound, http-outbound; did you mean "file-outbound"?""")
        );
        Assert.That(error.Origin!.Column, Is.GreaterThan(30), "the place of the value, not of the endpoint");
    }

    [Test]
    [TestCase("""{ "endpoints": { "a": { "type": "mail-inbound" } } }""", "endpoints.a.type")]
    [TestCase("""{ "policies": {} }""", "policies")]
    [TestCase("""{ "topics": { "a": { "timeToLive": "5s" } } }""", "topics.a.timeToLive")]
    [TestCase("""{ "processes": { "p": [{ "aggregate": {} }] } }""", "processes.p[0].aggregate")]
    public void What_is_designed_but_not_built_is_refused_and_never_ignored(string json, string path)
    {
        var error = RefuseOnce(json);

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-UNAVAILABLE", path)));
    }

    [Test]
    public void A_required_property_that_is_missing_is_named()
    {
        var error = RefuseOnce("""{ "endpoints": { "a": { "type": "file-outbound" } } }""");

        Assert.That(
            (error.Code, error.Path, error.Expected),
            Is.EqualTo(("ESB-CFG-REQUIRED", "endpoints.a.folder", "is required: The folder."))
        );
    }

    [Test]
    [TestCase("""{ "type": "http-inbound", "path": "/a" }""", "found none")]
    [TestCase("""{ "type": "http-inbound", "path": "/a", "process": "p", "publish": "t" }""", "found process and publish")]
    public void Of_process_publish_and_relay_exactly_one_is_given(string endpoint, string found)
    {
        var error = RefuseOnce($$"""{ "topics": { "t": {} }, "processes": { "p": [] }, "endpoints": { "a": {{endpoint}} } }""");

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-ONEOF", "endpoints.a")));
        Assert.That(error.Expected, Is.EqualTo($"expected exactly one of process, publish, relay, workflow, itinerary, {found}"));
    }

    [Test]
    [TestCase("{}", "a step has one key, its name; found none")]
    [TestCase("""{ "publish": "t", "respond": {} }""", "a step has one key, its name; found publish and respond")]
    [TestCase("""{ "pubish": "t" }""", """unknown step; did you mean "publish"?""")]
    [TestCase("""{ "publish": "t", "notes": "x" }""", """unknown; did you mean "note"?""")]
    [TestCase("\"publish\"", "expected a step, an object with one key, got text")]
    [TestCase("""{ "publish": "t", "id": "a.b" }""", "expected 1 to 128 letters, digits, - and _, beginning with a letter or digit")]
    public void A_step_that_is_none_is_refused(string step, string expected) =>
        Assert.That(RefuseOnce($$"""{ "topics": { "t": {} }, "processes": { "p": [{{step}}] } }""").Expected, Is.EqualTo(expected));

    [Test]
    public void A_plain_value_stands_for_the_main_property_of_a_step()
    {
        var processes = Accept(
                """
                {
                  "endpoints": { "out": { "type": "file-outbound", "folder": "x" } },
                  "processes": { "p": [{ "call": "out", "id": "first", "note": "why" }, { "call": { "endpoint": "out", "timeout": "5s" } }] }
                }
                """
            )
            .Named<IReadOnlyList<StepConfig>>("processes");

        var (first, second) = (processes["p"][0], processes["p"][1]);
        Assert.Multiple(() =>
        {
            Assert.That((first.Id, first.Note, first.Kind, first.Path), Is.EqualTo(("first", "why", "call", "processes.p[0].call")));
            Assert.That(first.Settings, Has.Property("Endpoint").EqualTo("out").And.Property("Timeout").EqualTo(TimeSpan.FromSeconds(60)));
            Assert.That(second.Settings, Has.Property("Timeout").EqualTo(TimeSpan.FromSeconds(5)));
        });
    }

    [Test]
    [TestCase("id", MessagePart.Id)]
    [TestCase("contentType", MessagePart.ContentType)]
    [TestCase("createdAt", MessagePart.CreatedAt)]
    public void Parts_of_the_envelope_are_named_as_in_the_design(string name, MessagePart part)
    {
        var topic = Accept($$"""{ "topics": { "t": { "key": { "message": "{{name}}" } } } }""").Named<TopicConfig>("topics")["t"];

        Assert.That(topic.Key!.Message, Is.EqualTo(part));
    }

    [Test]
    public void Settings_that_nobody_wrote_know_where_they_would_stand()
    {
        var endpoint = (OutboundEndpointConfig)Accept(Out("\"poolSize\": 3")).Named<EndpointConfig>("endpoints")["out"];

        Assert.That((endpoint.Name, endpoint.Path, endpoint.Origin.Line), Is.EqualTo(("out", "endpoints.out", 1)));
        Assert.That((endpoint.Retry.Path, endpoint.Retry.Origin), Is.EqualTo(("endpoints.out.retry", ConfigOrigin.Default)));
    }

    [Test]
    public void A_long_value_is_clipped_and_a_name_cannot_fake_a_line()
    {
        var error = RefuseOnce($$"""{ "limits": { "a\nESB-CFG-FAKE": 1 }, "name": "x" }""");
        var clipped = RefuseOnce(Out($"\"delivery\": \"{new string('x', 100)}\""));

        Assert.That(error.Path, Is.EqualTo("limits.a\uFFFDESB-CFG-FAKE"));
        Assert.That(clipped.Value, Has.Length.EqualTo(60).And.EndsWith("…"));
    }

    private static string Out(string property) =>
        $$"""{ "endpoints": { "out": { "type": "file-outbound", "folder": "out", {{property}} } } }""";
}
