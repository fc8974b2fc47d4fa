using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Composition;

/// <summary>What is well formed, and yet cannot be meant: refused before anything starts, each with its place.</summary>
public sealed class ContradictionTests
{
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [TestCase("http://127.0.0.1:8081", "http://127.0.0.1:8081")]
    [TestCase("http://0.0.0.0:8081", "http://127.0.0.1:8081")]
    [TestCase("http://127.0.0.1:8081", "http://[::]:8081")]
    public async Task Listener_on_the_port_of_the_management_API_is_refused(string listener, string management)
    {
        var error = await RefuseOnceAsync(
            $$"""{ "listeners": { "public": { "url": "{{listener}}" } }, "management": { "url": "{{management}}" } }"""
        );

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-PORT"));
        Assert.That(error.Expected, Does.Contain("has the same port"));
    }

    [Test]
    public async Task Same_port_on_two_addresses_of_this_machine_is_fine() =>
        await AcceptAsync("""{ "listeners": { "public": { "url": "http://127.0.0.2:8081" } } }""");

    [
        TestCase("x order", "x order"),
        TestCase("x\\norder", "x\uFFFDorder"),
        TestCase("", ""),
        TestCase("Größe", "Größe"),
        TestCase("esb-key", "esb-key"),
        TestCase("MT-Activity-Id", "MT-Activity-Id")
    ]
    public async Task Header_that_no_step_can_set_is_refused(string name, string shown)
    {
        var errors = await RefuseAsync(
            $$"""{ "processes": { "p": [{ "set": { "headers": { "{{name}}": "1" } } }, { "respond": { "headers": { "{{name}}": "1" } } }] } }"""
        );

        Assert.That(
            errors.Select(error => $"{error.Code} {error.Path}"),
            Is.EqualTo([$"ESB-CFG-HEADER processes.p[0].set.headers.{shown}", $"ESB-CFG-HEADER processes.p[1].respond.headers.{shown}"])
        );
    }

    [TestCase("esb-xml-schema", "such as ESB-XML-SCHEMA")]
    [TestCase("ESB-XML-SCHEMA ", "such as ESB-XML-SCHEMA")]
    [TestCase("ESB-*-SCHEMA", "such as ESB-XML-SCHEMA")]
    [TestCase("", "such as ESB-XML-SCHEMA")]
    [TestCase("ESB-CFG-REF", "no step gives the code ESB-CFG-REF")]
    [TestCase("ESB-CLI-*", "no step gives the code ESB-CLI-*")]
    [TestCase("SHOP-CLOSE", "did you mean \"SHOP-CLOSED\"?")]
    public async Task Code_that_no_step_gives_cannot_be_caught(string code, string expected)
    {
        var error = await RefuseOnceAsync(Catching(code, "{ \"fail\": { \"reason\": \"closed\", \"code\": \"SHOP-CLOSED\" } }"));

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-VALUE", "processes.p[0].try.catch[0].codes")));
        Assert.That(error.Expected, Does.Contain(expected));
    }

    [
        TestCase("ESB-XML-SCHEMA"),
        TestCase("ESB-XML-*"),
        TestCase("ESB-*"),
        TestCase("ESB*"),
        TestCase("*"),
        TestCase("SHOP-CLOSED"),
        TestCase("SHOP-*"),
        TestCase("notWellFormed")
    ]
    public async Task Code_that_a_step_gives_can_be_caught(string code) =>
        await AcceptAsync(
            Catching(
                code,
                """{ "fail": { "reason": "closed", "code": "SHOP-CLOSED" } }, { "fail": { "reason": "odd", "code": "notWellFormed" } }"""
            )
        );

    [Test]
    public async Task Code_of_whoever_answers_a_request_can_be_caught() =>
        await AcceptAsync(
            $$"""
            {
              "topics": { "orders": {} },
              "endpoints": { "answering": { "type": "http-outbound", "url": "http://localhost", "subscribe": ["orders.#"] } },
              "processes": { "p": [{ "try": { "steps": [{ "request": "orders.new" }], "catch": [{ "codes": ["THEIR-OWN"], "steps": [] }] } }] }
            }
            """
        );

    [TestCase("*", "*.xml"), TestCase("*.xml", "order*"), TestCase("a?.xml", "?b.xml"), TestCase("*.xml", "*.xml")]
    public async Task Two_readers_of_the_same_files_are_refused(string first, string second)
    {
        var error = await RefuseOnceAsync(Readers(first, second));

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-VALUE", "endpoints.b.folder")));
        Assert.That(error.Expected, Does.StartWith("'a' reads the same files there"));
    }

    [TestCase("*.xml", "*.json"), TestCase("a*", "b*"), TestCase("??.xml", "???.xml")]
    public async Task Two_readers_of_different_files_may_share_a_folder(string first, string second) =>
        await AcceptAsync(Readers(first, second));

    [Test]
    public async Task Choice_without_branches_is_refused()
    {
        var error = await RefuseOnceAsync(
            """{ "processes": { "p": [{ "choose": { "when": [], "otherwise": [{ "log": "hello" }] } }] } }"""
        );

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-VALUE", "processes.p[0].choose.when")));
    }

    [Test]
    public async Task Id_given_to_two_steps_of_a_process_is_refused()
    {
        var error = await RefuseOnceAsync(
            """
            { "processes": {
                "p": [{ "id": "first_step", "log": "a" }, { "try": { "steps": [{ "id": "First-Step", "log": "b" }] } }],
                "q": [{ "id": "first_step", "log": "a" }] } }
            """
        );

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-DUPNAME", "processes.p[1].try.steps[0].log")));
    }

    [Test, Property("Case", "CFG-15")]
    public async Task Circle_of_processes_is_told_once()
    {
        var error = await RefuseOnceAsync(
            """{ "processes": { "p": [{ "run": "q" }], "q": [{ "log": "a" }, { "run": "p" }], "r": [{ "run": "p" }] } }"""
        );

        Assert.That((error.Code, error.Path, error.Expected), Is.EqualTo(("ESB-CFG-CYCLE", "processes.p", "runs itself: p → q → p")));
    }

    [Test, Property("Case", "CFG-13")]
    public async Task Names_of_the_bus_are_no_names_of_topics_and_endpoints()
    {
        var errors = await RefuseAsync(
            """{ "topics": { "esb": {}, "esb.orders": {} }, "endpoints": { "ESB": { "type": "http-outbound", "url": "http://localhost" } } }"""
        );

        Assert.That(
            errors.Select(error => $"{error.Code} {error.Path}"),
            Is.EquivalentTo(["ESB-CFG-NAME topics", "ESB-CFG-NAME topics", "ESB-CFG-NAME endpoints"])
        );
    }

    [Test]
    public async Task Suggestion_is_never_a_name_that_is_refused()
    {
        var errors = await RefuseAsync("""{ "topics": { "a.b": {} }, "processes": { "p": [{ "publish": "ab" }] } }""");

        Assert.That(errors.Single(error => error.Code == "ESB-CFG-REF").Expected, Is.EqualTo("there is no \"ab\" in topics"));
    }

    [Test]
    public async Task Management_API_open_to_others_is_a_warning()
    {
        await using var services = await BuildAsync("""{ "management": { "url": "http://0.0.0.0:8081" } }""");

        var warning = services.GetRequiredService<Live<BusModel>>().Current.Warnings.Single();

        Assert.That((warning.Code, warning.Path), Is.EqualTo(("ESB-CFG-EXPOSED", "management.url")));
    }

    [TestCase(
        """{ "endpoints": { "e": { "type": "http-outbound", "url": "http://erp.example/orders" ALLOW } } }""",
        "endpoints.e.url",
        "https://"
    )]
    [TestCase("""{ "endpoints": { "e": { "type": "http-outbound", "url": "http://10.0.0.7/" ALLOW } } }""", "endpoints.e.url", "https://")]
    [TestCase(
        """{ "connections": { "c": { "connection": "Host=db.example;SSL Mode=Require" ALLOW } } }""",
        "connections.c.connection",
        "SSL Mode=VerifyFull"
    )]
    [TestCase(
        """{ "connections": { "c": { "connection": "Host=localhost,db.example" ALLOW } } }""",
        "connections.c.connection",
        "SSL Mode=VerifyFull"
    )]
    [TestCase("""{ "store": { "type": "postgres", "connection": "Host=db.example" ALLOW } }""", "store.connection", "SSL Mode=VerifyFull")]
    [Property("Case", "CFG-28")]
    public async Task Connection_to_another_machine_without_TLS_is_refused_unless_it_is_allowed_by_name(
        string json,
        string path,
        string expected
    )
    {
        var error = await RefuseOnceAsync(json.Replace("ALLOW", ""));
        await using var services = await BuildAsync(json.Replace("ALLOW", """, "allowInsecure": true"""));
        var warning = services.GetRequiredService<Live<BusModel>>().Current.Warnings.Single();

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-INSECURE", path)));
        Assert.That(error.Expected, Does.Contain($"expected {expected}, or \"allowInsecure\": true"));
        Assert.That((warning.Code, warning.Path), Is.EqualTo(("ESB-CFG-INSECURE", path)));
    }

    [TestCase("""{ "endpoints": { "e": { "type": "http-outbound", "url": "https://erp.example/orders" } } }""")]
    [TestCase("""{ "endpoints": { "e": { "type": "http-outbound", "url": "http://[::1]:8080/" } } }""")]
    [TestCase("""{ "connections": { "c": { "connection": "Host=db.example;SSL Mode=VerifyFull" } } }""")]
    [TestCase("""{ "connections": { "c": { "connection": "Host=/var/run/postgresql,127.0.0.1:5433" } } }""")]
    [TestCase("""{ "store": { "type": "postgres", "connection": "Host=db.example;SSL Mode=VerifyCA" } }""")]
    [Property("Case", "CFG-28")]
    public async Task Connection_that_is_verified_or_stays_on_this_machine_is_fine(string json)
    {
        await using var services = await BuildAsync(json);

        Assert.That(services.GetRequiredService<Live<BusModel>>().Current.Warnings, Is.Empty);
    }

    private static string Catching(string code, string steps) =>
        $$"""{ "processes": { "p": [{ "try": { "steps": [{ "log": "a" }], "catch": [{ "codes": ["{{code}}"], "steps": [] }] } }, {{steps}}] } }""";

    private static string Readers(string first, string second) =>
        $$"""
            { "processes": { "p": [] }, "endpoints": {
                "a": { "type": "file-inbound", "folder": "in", "pattern": "{{first}}", "process": "p" },
                "b": { "type": "file-inbound", "folder": "./in/", "pattern": "{{second}}", "process": "p" },
                "off": { "type": "file-inbound", "folder": "in", "process": "p", "enabled": false },
                "elsewhere": { "type": "file-inbound", "folder": "in2", "process": "p" } } }
            """;

    private async Task AcceptAsync(string json) => await (await BuildAsync(json)).DisposeAsync();

    private async Task<ConfigError> RefuseOnceAsync(string json)
    {
        var errors = await RefuseAsync(json);
        Assert.That(errors, Has.Count.EqualTo(1), string.Join('\n', errors));
        return errors[0];
    }

    private Task<IReadOnlyList<ConfigError>> RefuseAsync(string json) =>
        Task.FromResult(Assert.ThrowsAsync<ConfigurationRefusedException>(() => BuildAsync(json))!.Errors);

    private async Task<ServiceProvider> BuildAsync(string json)
    {
        var file = Path.Combine(_folder.FullName, "esb.json");
        await File.WriteAllTextAsync(file, json);
        return BusServices.Build(file, new Dictionary<string, string>(), new ServiceCollection().AddEsb());
    }
}
