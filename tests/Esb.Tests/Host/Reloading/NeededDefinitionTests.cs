using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Host;
using Esb.Host.Commands;
using Esb.Host.Reloading;
using Esb.Tests.Fakes;
using Esb.Tests.Host.Operating;
using Esb.Workflows.Workflows.Engine;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Reloading;

/// <summary>A configuration that drops what living instances need is refused, unless an operator agrees to suspend them.</summary>
[CancelAfter(60_000)]
public sealed class NeededDefinitionTests
{
    private const string Calling =
        """[{ "receive": { "subscribe": "orders.go", "match": { "order": { "jsonpath": "$.order" } } } }, { "call": "ledger" }]""";
    private const string Plain = """[{ "publish": "orders.done" }]""";

    private DirectoryInfo _folder = null!;
    private JsonObject _configuration = null!;

    private string Path => System.IO.Path.Combine(_folder.FullName, "esb.json");

    [SetUp]
    public async Task Write()
    {
        _folder = Directory.CreateTempSubdirectory("esb-needed-");
        _configuration = RunningBus.Configuration(_folder.FullName);
        _configuration["endpoints"]!["other"] = _configuration["endpoints"]!["ledger"]!.DeepClone();
        await WriteAsync(Calling);
    }

    [TearDown]
    public void Delete() => _folder.Delete(recursive: true);

    [TestCase(true), TestCase(false)]
    public async Task Reload_that_drops_an_endpoint_or_the_workflow_is_refused(bool dropsEndpoint, CancellationToken cancellationToken)
    {
        await using var bus = await StartAsync(cancellationToken);
        await DropAsync(dropsEndpoint);

        var refused = Assert.ThrowsAsync<ConfigurationRefusedException>(() => bus.ReloadAsync(cancellationToken))!;
        var planned = await PlanAsync(bus, cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                refused.Errors.Select(error => (error.Code, error.Path)),
                Is.EqualTo(new[] { ("ESB-WFL-NEEDED", "workflows.fulfil") })
            );
            Assert.That(refused.Errors.Single().Describe(), Does.Contain("1 living instance of").And.Contain("--force"));
            Assert.That(planned, Does.Contain("workflows.fulfil"), "a plan says so before");
        }

        await SendAsync(bus, cancellationToken);
        await WaitForAsync(bus, WorkflowState.Completed, cancellationToken); // as if nothing had been tried
    }

    [TestCase(true), TestCase(false)]
    public async Task Forced_reload_suspends_the_instance(bool dropsEndpoint, CancellationToken cancellationToken)
    {
        await using var bus = await StartAsync(cancellationToken);
        await DropAsync(dropsEndpoint);

        await bus
            .Services.GetRequiredService<ReloadDesk>()
            .ReloadAsync(RunningBus.Operator, new ExchangeMeans(Migrates: false, Suspends: true), cancellationToken);

        Assert.That((await WaitForAsync(bus, WorkflowState.Suspended, cancellationToken)).Code, Is.EqualTo("ESB-WFL-VERSION"));
    }

    [Test]
    public async Task Change_that_the_instance_does_not_need_is_not_refused(CancellationToken cancellationToken)
    {
        await using var bus = await StartAsync(cancellationToken);
        await WriteAsync(Plain);

        await bus.ReloadAsync(cancellationToken);
        await SendAsync(bus, cancellationToken);

        await WaitForAsync(bus, WorkflowState.Completed, cancellationToken);
        Assert.That(Directory.GetFiles(System.IO.Path.Combine(_folder.FullName, "out")), Has.Length.EqualTo(1), "by its own definition");
    }

    [TestCase(false), TestCase(true, Description = "the tables are those of the release before")]
    public async Task Validate_says_before_an_upgrade_which_instances_could_not_go_on(bool isEarlier, CancellationToken cancellationToken)
    {
        await using (await StartAsync(cancellationToken))
        {
            var (beside, said) = await ValidateAsync("--store");
            Assert.That(beside, Is.Zero, said);
            Assert.That(said, Does.Match("workflows.fulfil: 1 living instance of definition [0-9a-f]{12} can go on"));
        }

        if (isEarlier)
            await ForgetLastMigrationAsync(cancellationToken);
        await DropAsync(dropsEndpoint: true);
        var (plain, _) = await ValidateAsync();
        var (refused, text) = await ValidateAsync("--store");
        var (_, json) = await ValidateAsync("--store", "--json");

        using (Assert.EnterMultipleScope())
        {
            Assert.That((plain, refused), Is.EqualTo((0, 3)), "the configuration alone is sound");
            Assert.That(
                text,
                Does.Match("ESB-WFL-VERSION +workflows.fulfil: 1 living instance of definition [0-9a-f]{12} would be suspended: .*ledger")
            );
            Assert.That((string?)JsonNode.Parse(json)!["errors"]![0]!["code"], Is.EqualTo("ESB-WFL-VERSION"));
        }
    }

    private async Task<(int ExitCode, string Text)> ValidateAsync(params string[] options)
    {
        await using var text = new StringWriter();
        var exitCode = await EsbCommandLine.InvokeAsync(
            ["validate", Path, .. options],
            new CommandContext
            {
                Output = text,
                Error = text,
                Variables = new Dictionary<string, string>(),
                Services = () => new ServiceCollection().AddEsb(),
            }
        );
        return (exitCode, text.ToString());
    }

    private async Task ForgetLastMigrationAsync(CancellationToken cancellationToken)
    {
        await using var connection = new SqliteConnection(
            $"Data Source={System.IO.Path.Combine(_folder.FullName, "data", "store.db")};Pooling=false"
        );
        await connection.OpenAsync(cancellationToken);
        await using var command = connection.CreateCommand();
        command.CommandText = "delete from schema_version where number = (select max(number) from schema_version)";
        Assert.That(await command.ExecuteNonQueryAsync(cancellationToken), Is.EqualTo(1));
    }

    private static async Task<WorkflowInstance> WaitForAsync(RunningBus bus, WorkflowState state, CancellationToken cancellationToken)
    {
        WorkflowInstance? found = null;
        await Eventually.BecomesAsync(
            async () =>
                (
                    found = (
                        await bus.Services.GetRequiredService<IWorkflowStore>().ListAsync(new WorkflowQuery(), cancellationToken)
                    ).Single()
                ).State == state,
            cancellationToken
        );
        return found!;
    }

    private static async Task<IEnumerable<string>> PlanAsync(RunningBus bus, CancellationToken cancellationToken)
    {
        var folder = bus.Services.GetRequiredService<Esb.Host.Composition.ConfigurationSource>();
        var content = await Esb.Host.Versions.ContentFolder.ReadFilesAsync(folder.Path, cancellationToken);
        return (await bus.Services.GetRequiredService<RevisionPlan>().MakeAsync(content, cancellationToken)).Outside.Select(change =>
            change.Object
        );
    }

    private static async Task SendAsync(RunningBus bus, CancellationToken cancellationToken) =>
        await bus
            .Services.GetRequiredService<WorkflowEngine>()
            .ReceiveAsync("fulfil", new TopicDelivery(Message("orders.go"), default, Reply: null), cancellationToken);

    private static EsbMessage Message(string subject) =>
        EsbMessage.Create(MessageBody.FromText("""{ "order": 1 }"""), TimeProvider.System) with
        {
            Subject = subject,
            ContentType = "application/json",
        };

    private async Task<RunningBus> StartAsync(CancellationToken cancellationToken)
    {
        var bus = await RunningBus.StartAsync(Path, cancellationToken);
        await bus.Services.GetRequiredService<WorkflowEngine>().StartAsync("fulfil", Message(""), replyAddress: null, cancellationToken);
        await WaitForAsync(bus, WorkflowState.Waiting, cancellationToken);
        return bus;
    }

    private Task DropAsync(bool dropsEndpoint)
    {
        if (dropsEndpoint)
            _configuration["endpoints"]!.AsObject().Remove("ledger");
        return WriteAsync(dropsEndpoint ? Plain : null);
    }

    private Task WriteAsync(string? steps)
    {
        _configuration["workflows"] = new JsonObject();
        if (steps is not null)
            _configuration["workflows"]!["fulfil"] = new JsonObject
            {
                ["start"] = "orders.new",
                ["correlate"] = JsonNode.Parse("""{ "order": { "jsonpath": "$.order" } }"""),
                ["steps"] = JsonNode.Parse(steps),
            };
        return File.WriteAllTextAsync(Path, _configuration.ToJsonString());
    }
}
