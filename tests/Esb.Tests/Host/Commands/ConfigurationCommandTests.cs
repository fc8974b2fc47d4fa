using System.Text.Json.Nodes;

namespace Esb.Tests.Host.Commands;

/// <summary>A configuration is validated, explained and described without a host.</summary>
[CancelAfter(30_000)]
public sealed class ConfigurationCommandTests : CommandLineFixture
{
    [Test, Property("Case", "CLI-04")]
    public async Task Configuration_that_does_not_exist_is_a_configuration_error()
    {
        var exitCode = await RunAsync("run", Path.Combine(Folder, "nowhere"));

        Assert.That(exitCode, Is.EqualTo(3));
        Assert.That(Error, Does.StartWith("Configuration refused, 1 error; nothing was started.").And.Contains("ESB-CFG-NOTFOUND"));
    }

    [Test, Property("Case", "CLI-05")]
    public async Task Validate_reports_every_error_at_once()
    {
        var path = Write("""{ "telemetry": { "otlp": "nowhere" }, "management": { "url": "http://127.0.0.1:70000" } }""");

        var exitCode = await RunAsync("validate", path);

        Assert.That(exitCode, Is.EqualTo(3));
        Assert.That(
            Error,
            Does.StartWith("Configuration refused, 2 errors; nothing was started.")
                .And.Contains("ESB-CFG-PORT")
                .And.Contains("telemetry.otlp")
        );
        Assert.That(Output, Is.Empty);
    }

    [Test, Property("Case", "CLI-05")]
    public async Task Validate_writes_errors_for_programs()
    {
        var path = Write("""{ "nmae": "x" }""");

        var exitCode = await RunAsync("validate", path, "--json");

        var result = JsonNode.Parse(Output)!;
        Assert.That(exitCode, Is.EqualTo(3));
        Assert.That((bool?)result["valid"], Is.False);
        Assert.That((string?)result["errors"]![0]!["code"], Is.EqualTo("ESB-CFG-UNKNOWN"));
        Assert.That(Error, Is.Empty);
    }

    [Test]
    public async Task Validate_accepts_a_sound_configuration()
    {
        var exitCode = await RunAsync("validate", Write("""{ "name": "shop" }"""));

        Assert.That(exitCode, Is.Zero);
        Assert.That(Output, Does.Match("^shop, revision [0-9a-f]{12}: valid."));
    }

    [Test]
    public async Task Validate_tells_warnings_and_accepts_all_the_same()
    {
        var path = Write("""{ "name": "shop", "management": { "url": "http://0.0.0.0:8081" } }""");

        var forPeople = await RunAsync("validate", path);

        Assert.That(forPeople, Is.Zero);
        Assert.That(
            Output,
            Does.Match(
                "^shop, revision [0-9a-f]{12}: valid, 1 warning.\n  ESB-CFG-EXPOSED management.url = \"http://0.0.0.0:8081\": the "
                    + "management API can be reached from other machines, without TLS \\(.*esb.json:1:"
            )
        );
    }

    [Test]
    public async Task Validate_writes_warnings_for_programs()
    {
        var exitCode = await RunAsync("validate", Write("""{ "management": { "url": "http://[::]:8081" } }"""), "--json");

        var result = JsonNode.Parse(Output)!;
        Assert.That(exitCode, Is.Zero);
        Assert.That((bool?)result["valid"], Is.True);
        Assert.That((string?)result["warnings"]![0]!["code"], Is.EqualTo("ESB-CFG-EXPOSED"));
    }

    [Test]
    public async Task Explain_shows_compiled_processes_and_where_values_come_from()
    {
        var path = Write(
            """
            {
              "endpoints": { "shop": { "type": "http-inbound", "path": "/orders", "process": "receive-order" } },
              "processes": { "receive-order": [{ "log": "hello" }] }
            }
            """
        );

        var exitCode = await RunAsync("explain", path);

        Assert.That(exitCode, Is.Zero);
        Assert.That(Output, Does.Contain("shop: http-inbound, http://127.0.0.1:8080/orders → receive-order"));
        Assert.That(Output, Does.Contain("receive-order: log(hello)"));
        Assert.That(Output, Does.Match(@"endpoints\.shop\.path = ""/orders""  \(.*esb\.json:2:"));
        Assert.That(Output, Does.Contain("management.url = \"http://127.0.0.1:8081\"  (default)"));
    }

    [Test]
    public async Task Schema_is_a_json_schema_with_descriptions_and_defaults()
    {
        Assert.That(await RunAsync("schema"), Is.Zero);

        var schema = JsonNode.Parse(Output)!;
        Assert.That((string?)schema["$defs"]!["ManagementConfig"]!["properties"]!["url"]!["default"], Is.EqualTo("http://127.0.0.1:8081"));
    }
}
