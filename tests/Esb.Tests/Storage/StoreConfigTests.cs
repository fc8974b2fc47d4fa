using System.Security.Cryptography;
using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Storage;
using Esb.Storage.Encryption;
using Esb.Storage.Postgres;
using Microsoft.Extensions.DependencyInjection;
using NUnit.Framework;

namespace Esb.Tests.Storage;

public sealed class StoreConfigTests
{
    private string _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-").FullName;

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_folder, recursive: true);

    [Test]
    public void Without_a_store_there_is_a_folder_in_the_working_directory()
    {
        var config = (FileStoreConfig)Read("{}", []).Store!;

        Assert.That(Path.GetFullPath(config.Folder), Is.EqualTo(Path.Combine(Directory.GetCurrentDirectory(), "esb-data")));
    }

    [Test]
    public void A_folder_that_is_written_is_relative_to_its_file()
    {
        var config = (FileStoreConfig)Read("""{ "store": { "type": "file", "folder": "kept" } }""", []).Store!;

        Assert.That(config.Folder, Is.EqualTo(Path.Combine(_folder, "kept")));
    }

    [TestCase(
        "Host=db;Username=postgres;Password=postgres;SSL Mode=VerifyFull",
        "ESB-CFG-DEFAULTCRED",
        TestName = "CFG-27 default credentials for another machine are refused"
    )]
    [TestCase(
        "Host=127.0.0.1,db;Username=postgres;Password=postgres;SSL Mode=VerifyFull",
        "ESB-CFG-DEFAULTCRED",
        TestName = "CFG-27 default credentials for one of several machines are refused"
    )]
    [TestCase("Host=127.0.0.1;Username=postgres;Password=postgres", null)]
    [TestCase("Host=localhost:5433;Username=postgres;Password=postgres", null)]
    [TestCase("Host=db;Username=postgres;Password=other;SSL Mode=VerifyFull", null)]
    [TestCase("Host=db;Nonsense=1", "ESB-CFG-CONNECTION")]
    [TestCase("Port=abc", "ESB-CFG-CONNECTION")]
    [TestCase("Database=esb", "ESB-CFG-CONNECTION")]
    public void Connections_are_checked(string connection, string? code)
    {
        var errors = Read("""{ "store": { "type": "postgres", "connection": "${env:DB}" } }""", new() { ["DB"] = connection }).Errors;

        Assert.That(
            errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(code is null ? [] : new[] { (code, "store.connection") })
        );
        Assert.That(errors.All.Select(error => error.ToString()), Has.None.Contains("postgres/postgres@").And.None.Contains("Password="));
    }

    [TestCase("esb\\\"; drop table x")]
    [TestCase("ESB")]
    [TestCase("")]
    public void A_schema_that_is_no_name_is_refused(string schema)
    {
        var errors = Read($$"""{ "store": { "type": "postgres", "connection": "Host=localhost", "schema": "{{schema}}" } }""", []).Errors;

        Assert.That(errors.All.Select(error => (error.Code, error.Path)), Is.EqualTo([("ESB-CFG-NAME", "store.schema")]));
    }

    [Test]
    public void A_password_in_the_file_is_refused()
    {
        var errors = Read("""{ "store": { "type": "postgres", "connection": "Host=db;Password=secret" } }""", []).Errors;

        Assert.That(errors.All.Single().Code, Is.EqualTo("ESB-CFG-CLEARSECRET"));
    }

    [TestCase("2026", 32, "b", 32)]
    [TestCase("2026", 16, "b", 32, "ESB-CFG-RANGE store.encryptionKeys[0].key")]
    [TestCase("", 32, "b", 32, "ESB-CFG-NAME store.encryptionKeys[0].id")]
    [TestCase("a-very-long-name-of-a-key", 32, "b", 32, "ESB-CFG-NAME store.encryptionKeys[0].id")]
    [TestCase("b", 32, "b", 32, "ESB-CFG-DUPNAME store.encryptionKeys[1].id")]
    public void Encryption_keys_are_checked(string first, int firstBytes, string second, int secondBytes, params string[] expected)
    {
        var variables = new Dictionary<string, string>
        {
            ["FIRST"] = Convert.ToBase64String(RandomNumberGenerator.GetBytes(firstBytes)),
            ["SECOND"] = Convert.ToBase64String(RandomNumberGenerator.GetBytes(secondBytes)),
        };

        var (store, errors) = Read(
            $$"""{ "store": { "encryptionKeys": [{ "id": "{{first}}", "key": "${env:FIRST}" }, { "id": "{{second}}", "key": "${env:SECOND}" }] } }""",
            variables
        );
        new EncryptionKeysRule(store!).Check(errors);

        Assert.That(errors.All.Select(error => $"{error.Code} {error.Path}"), Is.EqualTo(expected));
        Assert.That(errors.All.Select(error => error.ToString()), Has.None.Contains(variables["FIRST"]));
    }

    [Test]
    public void An_encryption_key_in_the_file_is_refused()
    {
        var errors = Read("""{ "store": { "encryptionKeys": [{ "id": "a", "key": "c2VjcmV0" }] } }""", []).Errors;

        Assert.That(errors.All.Select(error => error.Code), Is.EqualTo(["ESB-CFG-CLEARSECRET"]));
    }

    private (StoreConfig? Store, ConfigErrors Errors) Read(string json, Dictionary<string, string> variables)
    {
        var file = Path.Combine(_folder, "esb.json");
        File.WriteAllText(file, json);
        var errors = new ConfigErrors();
        var services = new ServiceCollection()
            .AddEsbConfiguration()
            .AddSingleton(new SettingsKind(typeof(TransportConfig), "memory", typeof(MemoryTransportConfig), "In memory."))
            .AddEsbStorage();
        var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(file, variables, errors);
        if (configuration is null)
            return (null, errors);
        new PostgresStoreRule(configuration.Section<StoreConfig>("store")).Check(errors);
        return (configuration.Section<StoreConfig>("store"), errors);
    }

    private sealed record MemoryTransportConfig : TransportConfig;
}
