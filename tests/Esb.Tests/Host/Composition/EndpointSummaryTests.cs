using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Composition;

/// <summary>Endpoints in a few words: their settings say themselves where they meet the external system.</summary>
public sealed class EndpointSummaryTests
{
    [TestCase("""{ "type": "http-inbound", "path": "/orders", "process": "p" }""", "http-inbound, http://127.0.0.1:8080/orders → p")]
    [TestCase("""{ "type": "file-inbound", "folder": "/srv/in", "process": "p" }""", "file-inbound, /srv/in → p")]
    [TestCase("""{ "type": "file-outbound", "folder": "/srv/out", "fileName": "a" }""", "file-outbound, called → /srv/out; ")]
    [TestCase(
        """{ "type": "http-outbound", "url": "http://crm.example/in", "allowInsecure": true }""",
        "http-outbound, called → http://crm.example/in; "
    )]
    [TestCase("""{ "type": "sql-outbound", "connection": "shop", "execute": "delete from t" }""", "sql-outbound, called → shop; ")]
    [TestCase("""{ "type": "mail-inbound", "mailbox": "orders@shop.example", "process": "p" }""", "mail-inbound, orders@shop.example → p")]
    public void Endpoint_is_described_by_what_its_settings_say(string endpoint, string expected)
    {
        var folder = Directory.CreateTempSubdirectory("esb-summary-");
        try
        {
            var file = Path.Combine(folder.FullName, "esb.json");
            File.WriteAllText(
                file,
                $$"""{ "connections": { "shop": { "connection": "Host=localhost" } }, "processes": { "p": [] }, "endpoints": { "e": {{endpoint}} } }"""
            );
            var services = new ServiceCollection()
                .AddEsb()
                .AddSingleton(new SettingsKind(typeof(EndpointConfig), "mail-inbound", typeof(MailboxConfig), "Reads mail."));
            var errors = new ConfigErrors();

            var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(
                file,
                new Dictionary<string, string>(),
                errors
            );

            Assert.That(errors.All, Is.Empty);
            Assert.That(EndpointSummary.AllOf(configuration!).Single().Describe(), Does.StartWith(expected));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private sealed record MailboxConfig : InboundEndpointConfig
    {
        [Setting("The mailbox.")]
        public required string Mailbox { get; init; }

        public override string? Address => IsSound("mailbox") ? Mailbox : null;
    }
}
