using System.Data.Common;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Settings;
using Esb.Content.Lookups;
using Esb.Content.Transforms;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Databases;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints;
using Esb.Endpoints.Sql;
using Esb.Storage.Encryption;
using Esb.Tests.Endpoints.Contracts;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Endpoints;

public sealed class EndpointTypesTests
{
    [TestCase("""{ "type": "file-inbound", "folder": "in", "process": "p" }""")]
    [TestCase(
        """{ "type": "file-inbound", "folder": "in", "publish": "orders.new", "pattern": "*.xml", "interval": "5s", "maxConcurrentCalls": 4 }"""
    )]
    [TestCase("""{ "type": "file-outbound", "folder": "out", "fileName": "{message.key}-{header.x-order}.xml", "ifExists": "replace" }""")]
    [TestCase(
        """{ "type": "sql-outbound", "connection": "shop", "query": "select 1 where 'a' = @a", "parameters": { "a": { "header": "x-a" } }, "as": "xml", "maxRows": 5 }"""
    )]
    [TestCase("""{ "type": "sql-outbound", "connection": "shop", "execute": "delete from t" }""")]
    [TestCase("""{ "type": "sql-outbound", "connection": "shop", "execute": "delete from t", "once": true }""")]
    [TestCase(
        """{ "type": "timer-inbound", "cron": "0 2 * * mon-fri", "timeZone": "Europe/Berlin", "missed": "once", "body": { "value": "tick" }, "process": "p" }"""
    )]
    [TestCase(
        """{ "type": "timer-inbound", "interval": "15m", "body": { "value": { "a": 1 } }, "publish": "orders.new", "singleInstance": false }"""
    )]
    [TestCase(
        """{ "type": "mail-outbound", "url": "smtps://mail.example.com", "from": "a@example.com", "to": "{header.x-to}", "subject": "Order", "text": "Hello", "allow": ["example.com", "*.example.org"] }"""
    )]
    [TestCase(
        """{ "type": "mail-outbound", "url": "smtp://localhost:25", "tls": "none", "from": "a@example.com", "to": ["b@example.com", "c@example.com"], "attachments": [{ "name": "a.xml", "body": { "message": "body" } }] }"""
    )]
    [TestCase(
        """{ "type": "sql-inbound", "connection": "shop", "query": "select id from jobs where not taken limit 20", "after": "update jobs set taken = true where id = @id", "publish": "orders.new", "batch": 5, "as": "xml" }"""
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/~/out", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "ready": "{name}.ok", "after": "move:done/today", "order": "time", "minimumAge": "1m", "publish": "orders.new" }"""
    )]
    [TestCase(
        """{ "type": "sftp-outbound", "url": "sftp://shop@partner:2222/in", "password": "${env:P}", "hostKey": ["SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8"], "fileName": "{message.id}.xml", "ifExists": "unique" }"""
    )]
    [TestCase(
        """{ "type": "sql-outbound", "connection": "shop", "procedure": "shop.close_order", "isolation": "serializable", "parameters": { "id": { "value": { "jsonpath": "$.id" }, "type": "uuid" }, "told": { "direction": "out", "type": "text" } } }"""
    )]
    [TestCase(
        """{ "type": "file-inbound", "folder": "in", "process": "p", "ready": "{name}.ok", "order": "time", "minimumAge": "1m", "recursive": true }"""
    )]
    public async Task Endpoint_is_read_and_made(string endpoint) => Assert.That(await ErrorsOfAsync(endpoint), Is.Empty);

    [TestCase("""{ "type": "file-inbound", "folder": "in", "relay": "e" }""", "ESB-CFG-VALUE endpoints.e.relay")]
    [TestCase("""{ "type": "file-inbound", "folder": "in", "process": "p", "mode": "request-reply" }""", "ESB-CFG-VALUE endpoints.e.mode")]
    [TestCase("""{ "type": "file-inbound", "folder": "in", "process": "p", "pattern": "a/*.xml" }""", "ESB-CFG-VALUE endpoints.e.pattern")]
    [TestCase("""{ "type": "file-inbound", "folder": "in", "process": "p", "done": "in" }""", "ESB-CFG-VALUE endpoints.e.done")]
    [TestCase("""{ "type": "file-outbound", "folder": "out", "fileName": "../{message.id}" }""", "ESB-FILE-NAME endpoints.e.fileName")]
    [TestCase(
        """{ "type": "sql-outbound", "connection": "shop", "query": "select 1", "execute": "select 1" }""",
        "ESB-CFG-ONEOF endpoints.e"
    )]
    [TestCase("""{ "type": "sql-outbound", "connection": "shp", "query": "select 1" }""", "ESB-CFG-REF endpoints.e.connection")]
    [TestCase("""{ "type": "sql-outbound", "connection": "shop", "query": "select '${name}'" }""", "ESB-SQL-DYNAMIC endpoints.e.query")]
    [TestCase(
        """{ "type": "sql-outbound", "connection": "shop", "query": "select * from {header.x-table}" }""",
        "ESB-SQL-DYNAMIC endpoints.e.query"
    )]
    [TestCase("""{ "type": "sql-outbound", "connection": "shop", "query": "select @a" }""", "ESB-SQL-PARAM endpoints.e.query")]
    [TestCase("""{ "type": "sql-outbound", "connection": "shop", "query": "select 1", "once": true }""", "ESB-CFG-ONCE endpoints.e.once")]
    [TestCase("""{ "type": "timer-inbound", "process": "p" }""", "ESB-CFG-ONEOF endpoints.e")]
    [TestCase("""{ "type": "timer-inbound", "cron": "0 2 * *", "process": "p" }""", "ESB-CFG-CRON endpoints.e.cron")]
    [TestCase(
        """{ "type": "timer-inbound", "cron": "0 2 * * *", "timeZone": "Europe/Bern", "process": "p" }""",
        "ESB-CFG-TIMEZONE endpoints.e.timeZone"
    )]
    [TestCase(
        """{ "type": "timer-inbound", "interval": "1s", "timeZone": "Europe/Berlin", "process": "p" }""",
        "ESB-CFG-VALUE endpoints.e.timeZone"
    )]
    [TestCase("""{ "type": "timer-inbound", "interval": "100ms", "process": "p" }""", "ESB-CFG-RANGE endpoints.e.interval")]
    [TestCase("""{ "type": "timer-inbound", "interval": "1s", "relay": "e" }""", "ESB-CFG-VALUE endpoints.e.relay")]
    [TestCase(
        """{ "type": "timer-inbound", "interval": "1s", "process": "p", "mode": "request-reply" }""",
        "ESB-CFG-VALUE endpoints.e.mode"
    )]
    [TestCase(
        """{ "type": "timer-inbound", "interval": "1s", "process": "p", "body": { "header": "x-a" } }""",
        "ESB-CFG-VALUE endpoints.e.body"
    )]
    [TestCase("""{ "type": "mail-outbound", "url": "http://mail", "from": "a@b.c", "to": "a@b.c" }""", "ESB-CFG-URL endpoints.e.url")]
    [TestCase(
        """{ "type": "mail-outbound", "url": "smtps://mail", "tls": "none", "from": "a@b.c", "to": "a@b.c" }""",
        "ESB-CFG-VALUE endpoints.e.tls"
    )]
    [TestCase(
        """{ "type": "mail-outbound", "url": "smtp://mail", "tls": "none", "user": "u", "password": "${env:P}", "from": "a@b.c", "to": "a@b.c" }""",
        "ESB-CFG-"
    )]
    [TestCase(
        """{ "type": "mail-outbound", "url": "smtp://mail", "user": "u", "from": "a@b.c", "to": "a@b.c" }""",
        "ESB-CFG-VALUE endpoints.e.password"
    )]
    [TestCase("""{ "type": "mail-outbound", "url": "smtp://mail", "from": "a@b.c", "to": [] }""", "ESB-CFG-VALUE endpoints.e.to")]
    [TestCase(
        """{ "type": "mail-outbound", "url": "smtp://mail", "from": "a@b.c", "to": "a@b.c", "allow": ["a@b.c"] }""",
        "ESB-CFG-VALUE endpoints.e.allow"
    )]
    [TestCase(
        """{ "type": "mail-outbound", "url": "smtp://mail", "from": "a@b.c", "to": "a@b.c", "text": { "template": "a", "map": "m" } }""",
        "ESB-CFG-ONEOF endpoints.e.text"
    )]
    [TestCase(
        """{ "type": "mail-outbound", "url": "smtp://mail", "from": "a@b.c", "to": "a@b.c", "tls": { "ca": "missing.pem" } }""",
        "ESB-CFG-CERT endpoints.e.tls.ca"
    )]
    [TestCase(
        """{ "type": "sql-inbound", "connection": "shop", "query": "select id from jobs", "publish": "orders.new" }""",
        "ESB-CFG-REQUIRED endpoints.e.after"
    )]
    [TestCase(
        """{ "type": "sql-inbound", "connection": "shop", "query": "select id from jobs", "after": "delete from jobs", "publish": "orders.new" }""",
        "ESB-SQL-PARAM endpoints.e.after"
    )]
    [TestCase(
        """{ "type": "sql-inbound", "connection": "shop", "query": "select id from jobs where id > @last", "after": "delete from jobs where id = @id", "publish": "orders.new" }""",
        "ESB-SQL-PARAM endpoints.e.query"
    )]
    [TestCase(
        """{ "type": "sql-inbound", "connection": "shop", "query": "select id from jobs", "after": "delete from jobs where id = @id; commit", "publish": "orders.new" }""",
        "ESB-CFG-VALUE endpoints.e.after"
    )]
    [TestCase(
        """{ "type": "sql-inbound", "connection": "shop", "query": "select id from jobs", "after": "delete from jobs where id = @id", "process": "p", "mode": "request-reply" }""",
        "ESB-CFG-VALUE endpoints.e.mode"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "url": "ftp://shop@partner/in", "process": "p" }""",
        "ESB-CFG-URL endpoints.e.url"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "url": "sftp://partner/in", "process": "p" }""",
        "ESB-CFG-URL endpoints.e.url"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "url": "sftp://shop@partner/../etc", "process": "p" }""",
        "ESB-CFG-URL endpoints.e.url"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/in", "password": "${env:P}", "hostKey": "SHA256:abc", "process": "p" }""",
        "ESB-CFG-VALUE endpoints.e.hostKey"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/in", "password": "${env:P}", "hostKey": [], "process": "p" }""",
        "ESB-CFG-VALUE endpoints.e.hostKey"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/in", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "passphrase": "${env:P}", "process": "p" }""",
        "ESB-CFG-VALUE endpoints.e.passphrase"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/in", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "privateKey": "${env:P}", "process": "p" }""",
        "ESB-CFG-ONEOF endpoints.e.privateKey"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/in", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "after": "move:../up", "process": "p" }""",
        "ESB-CFG-VALUE endpoints.e.after"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/in", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "after": "keep", "process": "p" }""",
        "ESB-CFG-VALUE endpoints.e.after"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/in", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "claim": "none", "after": "delete", "process": "p" }""",
        "ESB-CFG-VALUE endpoints.e.after"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/in", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "error": "/tmp", "process": "p" }""",
        "ESB-CFG-VALUE endpoints.e.error"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/in", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "ready": "ok", "process": "p" }""",
        "ESB-CFG-VALUE endpoints.e.ready"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/in", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "pattern": "a/*", "process": "p" }""",
        "ESB-CFG-VALUE endpoints.e.pattern"
    )]
    [TestCase(
        """{ "type": "sftp-inbound", "url": "sftp://shop@partner/in", "password": "${env:P}", "hostKey": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "mode": "request-reply", "process": "p" }""",
        "ESB-CFG-VALUE endpoints.e.mode"
    )]
    [TestCase("""{ "type": "sql-outbound", "connection": "shop", "procedure": "close; drop" }""", "ESB-CFG-VALUE endpoints.e.procedure")]
    [TestCase("""{ "type": "sql-outbound", "connection": "shop", "procedure": "p", "query": "select 1" }""", "ESB-CFG-ONEOF endpoints.e")]
    [TestCase(
        """{ "type": "sql-outbound", "connection": "shop", "procedure": "p", "parameters": { "a": { "direction": "out", "value": 1 } } }""",
        "ESB-CFG-VALUE endpoints.e.parameters.a.direction"
    )]
    [TestCase(
        """{ "type": "sql-outbound", "connection": "shop", "procedure": "p", "parameters": { "a": { "type": "int" } } }""",
        "ESB-CFG-ONEOF endpoints.e.parameters.a"
    )]
    [TestCase(
        """{ "type": "sql-outbound", "connection": "shop", "query": "select @a", "parameters": { "a": { "value": 1, "direction": "in-out" } } }""",
        "ESB-CFG-VALUE endpoints.e.parameters.a.direction"
    )]
    [TestCase(
        """{ "type": "sql-outbound", "connection": "shop", "query": "select @a", "parameters": { "a": { "value": 1, "type": "int); drop table t; --" } } }""",
        "ESB-CFG-VALUE endpoints.e.parameters.a.type"
    )]
    [TestCase(
        """{ "type": "sql-outbound", "connection": "shop", "execute": "delete from t", "once": true, "isolation": "serializable" }""",
        "ESB-CFG-ONCE endpoints.e.once"
    )]
    [TestCase("""{ "type": "sql-outbound", "connection": "shop", "procedure": "p", "once": true }""", "ESB-CFG-ONCE endpoints.e.once")]
    [TestCase("""{ "type": "sql-outbound", "connection": "shop", "procedure": "p", "batch": {} }""", "ESB-CFG-BATCH endpoints.e.batch")]
    [TestCase("""{ "type": "file-inbound", "folder": "in", "process": "p", "ready": "{name}" }""", "ESB-CFG-VALUE endpoints.e.ready")]
    public async Task Mistake_is_told_with_its_place(string endpoint, string error) =>
        Assert.That(await ErrorsOfAsync(endpoint), Has.One.StartsWith(error));

    [Test]
    public async Task Unknown_provider_is_told_with_the_nearest() =>
        Assert.That(
            await ErrorsOfAsync("""{ "type": "file-inbound", "folder": "in", "process": "p" }""", provider: "npgsq"),
            Is.EqualTo(["ESB-CFG-VALUE connections.shop.provider = \"npgsq\": expected one of npgsql, mysql; did you mean \"npgsql\"?"])
        );

    [Test]
    public async Task Once_and_fences_are_refused_for_a_provider_that_cannot_keep_their_records()
    {
        const string plain = """{ "type": "sql-outbound", "connection": "shop", "execute": "delete from t" }""";

        var errors = await ErrorsOfAsync(plain.Replace("}", ", \"once\": true }", StringComparison.Ordinal), provider: "forgetful");

        Assert.That(
            errors,
            Is.EqualTo(["ESB-CFG-ONCE endpoints.e.once = true: the provider 'forgetful' of 'shop' cannot keep the tables that it needs"])
        );
        Assert.That(await ErrorsOfAsync(plain, provider: "forgetful"), Is.Empty);
        errors = await ErrorsOfAsync(plain.Replace("}", ", \"singleInstance\": true }", StringComparison.Ordinal), provider: "forgetful");
        Assert.That(errors, Has.One.StartsWith("ESB-CFG-SINGLE endpoints.e.singleInstance = true: the provider 'forgetful'"));
    }

    [TestCase("mysql"), TestCase("acme")]
    public async Task Provider_that_is_a_plain_client_refuses_what_it_cannot_keep(string provider)
    {
        const string plain =
            """{ "type": "sql-outbound", "connection": "shop", "execute": "delete from t where a = @a", "parameters": { "a": 1 } }""";

        Assert.That(await ErrorsOfAsync(plain, provider), Is.Empty);
        Assert.That(
            await ErrorsOfAsync(plain.Replace("\"execute\"", "\"once\": true, \"execute\"", StringComparison.Ordinal), provider),
            Has.One.StartsWith("ESB-CFG-ONCE endpoints.e.once")
        );
        Assert.That(
            await ErrorsOfAsync(plain.Replace("\"execute\"", "\"batch\": {}, \"execute\"", StringComparison.Ordinal), provider),
            Has.One.StartsWith("ESB-CFG-BATCH endpoints.e.batch")
        );
        Assert.That(
            await ErrorsOfAsync(
                plain.Replace("\"a\": 1", "\"a\": { \"value\": 1, \"type\": \"int\" }", StringComparison.Ordinal),
                provider
            ),
            Has.One.StartsWith("ESB-CFG-VALUE endpoints.e.parameters.a.type")
        );
    }

    // As the host does it: what can be read is checked, and made without opening anything.
    private static async Task<List<string>> ErrorsOfAsync(string endpoint, string provider = "npgsql")
    {
        var folder = Directory.CreateTempSubdirectory("esb-");
        try
        {
            var file = Path.Combine(folder.FullName, "esb.json");
            await File.WriteAllTextAsync(
                file,
                $$"""
                { "topics": { "orders": {} }, "processes": { "p": [] },
                  "connections": { "shop": { "provider": "{{provider}}", "connection": "Host=localhost" } },
                  "endpoints": { "e": {{endpoint}} } }
                """
            );
            var errors = new ConfigErrors();
            var services = new ServiceCollection().AddEsbConfiguration().AddEndpointTypes();
            if (provider == "forgetful")
                services.AddSingleton(Forgetful()).AddCompiling(ServiceDescriptor.Singleton(Forgetful()));
            if (provider == "acme")
                services.AddDatabaseClient<AcmeClient>();
            services
                .AddSingleton(new SettingsKind(typeof(TransportConfig), "memory", typeof(AnyTransport), ""))
                .AddSingleton(new SettingsKind(typeof(StoreConfig), "file", typeof(AnyStore), ""));
            if (
                new ConfigurationReader(SettingsCatalog.From(services)).Read(
                    file,
                    new Dictionary<string, string> { ["P"] = "secret" },
                    errors
                ) is
                { } configuration
            )
                await CheckAsync(services, configuration, errors);

            Assert.That(folder.GetFileSystemInfos().Select(entry => entry.Name), Is.EqualTo(["esb.json"]), "checking makes nothing");
            return [.. errors.All.Select(error => (error with { Origin = null }).ToString())];
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static async Task CheckAsync(IServiceCollection services, EsbConfiguration configuration, ConfigErrors errors)
    {
        services.AddCompiling(
            ServiceDescriptor.Singleton<IReadOnlyDictionary<string, LookupConfig>>(new Dictionary<string, LookupConfig>())
        );
        services
            .AddCompiling(ServiceDescriptor.Singleton(new MapModels(new Dictionary<string, MapModel>())))
            .AddCompiling<IExpressionCompiler, PlainExpressions>()
            .AddSingleton(Substitute.For<ILeaseStore>())
            .AddSingleton(Substitute.For<IAuditGate>());
        services
            .AddSingleton(Substitute.For<IEndpointMarks>())
            .AddSingleton<IBodyCipher>(BodyCipher.None)
            .AddSingleton(Substitute.For<ITopicTransport>())
            .AddSingleton<MemoryMarks>()
            .AddSingleton<OverloadGate>()
            .AddSingleton<IntakeHolds>()
            .AddSingleton<Admissions>();
        services.AddSingleton<ILoggerFactory>(NullLoggerFactory.Instance).AddSingleton(typeof(ILogger<>), typeof(NullLogger<>));
        await using var provider = Compiled.Build(services, configuration, errors);

        var models = provider.GetRequiredService<EndpointModels>();
        object? made =
            models.Outbound.SingleOrDefault()?.Create?.Invoke(provider)
            ?? (object?)models.Inbound.SingleOrDefault()?.Create?.Invoke(provider, Substitute.For<IMessageIntake>());
        if (!errors.Any)
            Assert.That(made, Is.Not.Null);
    }

    private static IDatabaseProvider Forgetful()
    {
        var provider = Substitute.For<IDatabaseProvider>();
        provider.Name.Returns("forgetful");
        provider.HasBusTables.Returns(false);
        return provider;
    }

    // As a plug-in registers it.
    private sealed class AcmeClient : IDatabaseClient
    {
        public string Name => "acme";

        public void Check(ConnectionConfig connection, ConfigErrors errors) { }

        public DbDataSource Open(ConnectionConfig connection, int maxPoolSize) => throw new NotSupportedException();

        public void Close(DbDataSource pool) => throw new NotSupportedException();

        public string Placeholder(int position) => $":{position}";

        public string ParameterName(int position) => $"{position}";

        public DatabaseFailure? Explain(Exception cause, IReadOnlyList<string> parameters) => null;
    }

    private sealed record AnyTransport : TransportConfig;

    private sealed record AnyStore : StoreConfig;
}
