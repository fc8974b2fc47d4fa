using System.Runtime.CompilerServices;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Configuration.Settings;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Tests.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Samples;

/// <summary>Every configuration of the repository passes all checks of the real bus, and says nothing that the schema does not
/// describe.</summary>
public sealed class SampleConfigurationTests
{
    private static readonly Dictionary<string, string> Variables = new()
    {
        ["ESB_RABBITMQ"] = "amqp://esb:secret@localhost",
        ["ESB_POSTGRES"] = "Host=localhost;Username=esb;Password=secret",
        ["ESB_BACKEND"] = "http://localhost:9000",
        ["ESB_SFTP"] = "sftp://esb@localhost",
        ["ESB_SFTP_PASSWORD"] = "secret",
        ["ESB_SFTP_HOSTKEY"] = "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
        ["ESB_SMTP"] = "smtp://localhost",
        ["ESB_SMTP_USER"] = "esb",
        ["ESB_SMTP_PASSWORD"] = "secret",
    };

    public static IEnumerable<string> Configurations =>
        [
            "samples/starter",
            "samples/orders",
            "samples/billing",
            "samples/flat-file",
            "samples/csv-import",
            "samples/rest",
            "samples/soap",
            "samples/mediation",
            "samples/database",
            "samples/transactions",
            "samples/sftp",
            "samples/nightly",
            "loadtests/orders",
            "loadtests/soap.d",
            "loadtests/compare.d/mediation",
            "loadtests/compare.d/topics",
            "loadtests/compare.d/topics-grouped",
            "samples/workflows/order-fulfilment",
            "samples/workflows/approval",
            "samples/workflows/second-opinion",
            "samples/workflows/kinds",
            "samples/holding",
            "samples/itineraries",
        ];

    [TestCaseSource(nameof(Configurations))]
    public void Configuration_passes_every_check(string folder) =>
        Assert.That(
            async () => await (BusServices.Build(PathOf(folder), Variables, new ServiceCollection().AddEsb())).DisposeAsync(),
            Throws.Nothing
        );

    [TestCaseSource(nameof(Configurations))]
    public void Configuration_says_nothing_that_the_schema_does_not_describe(string folder)
    {
        var schema = SchemaWriter.Write(SettingsCatalog.From(new ServiceCollection().AddEsb()));
        var text = File.ReadAllText(Path.Combine(PathOf(folder), "esb.json"));
        var configuration = JsonNode.Parse(text, documentOptions: new JsonDocumentOptions { CommentHandling = JsonCommentHandling.Skip });

        Assert.That(new SchemaValidator(schema).Validate(configuration), Is.Empty);
    }

    private static string PathOf(string folder, [CallerFilePath] string here = "") =>
        Path.GetFullPath($"../../../{folder}", Path.GetDirectoryName(here)!);
}
