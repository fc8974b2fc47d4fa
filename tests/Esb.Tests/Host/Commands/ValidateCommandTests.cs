using Esb.Host;
using Esb.Host.Commands;
using Esb.Tests.Content.Transforms;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Commands;

/// <summary><c>esb validate</c> with all parts of the bus: files that the configuration names are errors with a place, whatever is wrong
/// with them.</summary>
[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class ValidateCommandTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-validate-");
    private readonly StringWriter _output = new();
    private readonly StringWriter _error = new();

    public void Dispose()
    {
        _folder.Delete(recursive: true);
        _output.Dispose();
        _error.Dispose();
    }

    [TestCase("file:x")]
    [TestCase("http:x")]
    public async Task Include_that_names_no_file_is_a_configuration_error(string reference)
    {
        Write("map.xsl", SomeMaps.Stylesheet($"<xsl:include href='{reference}'/>"));

        var exitCode = await ValidateAsync("""{ "maps": { "map": "map.xsl" } }""");

        Assert.That(exitCode, Is.EqualTo(3));
        Assert.That(
            _error.ToString(),
            Does.Match($"ESB-XSL-RESOLVE +maps.map = .*map.xsl, line 1, column [0-9]+: '{reference}' is not allowed")
        );
    }

    [Test, Property("Case", "CFG-29")]
    public async Task Missing_certificates_of_the_broker_are_told_beside_other_errors()
    {
        var exitCode = await ValidateAsync(
            """
            {
              "transport": { "type": "rabbitmq", "url": "amqps://localhost", "tls": { "ca": "no-ca.pem", "certificate": "no-certificate.pem" } },
              "topics": { "orders": {} },
              "endpoints": { "files": { "type": "file-outbound", "folder": "out", "fileName": "{message.id}", "subscribe": ["orders.#"], "poolSize": 0 } }
            }
            """
        );

        Assert.That(exitCode, Is.EqualTo(3));
        Assert.That(_error.ToString(), Does.StartWith("Configuration refused, 3 errors; nothing was started."));
        Assert.That(
            _error.ToString(),
            Does.Match("ESB-CFG-CERT +transport.tls.ca = .*does not exist")
                .And.Match("ESB-CFG-CERT +transport.tls.certificate = .*does not exist")
        );
        Assert.That(_error.ToString(), Does.Match("ESB-CFG-RANGE +endpoints.files.poolSize = 0"));
    }

    private Task<int> ValidateAsync(string configuration) =>
        EsbCommandLine.InvokeAsync(
            ["validate", Write("esb.json", configuration)],
            new CommandContext
            {
                Output = _output,
                Error = _error,
                Variables = new Dictionary<string, string>(),
                Services = () => new ServiceCollection().AddEsb(),
            }
        );

    private string Write(string name, string text)
    {
        var path = Path.Combine(_folder.FullName, name);
        File.WriteAllText(path, text);
        return path;
    }
}
