using System.Runtime.CompilerServices;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Workflows.Processes;
using Esb.Workflows.Processes.Tracing;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Composition;

/// <summary>What a configuration compiles to is a value: it needs nothing that runs, and several can be alive.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class CompilePhaseTests : IDisposable
{
    private static readonly Dictionary<string, string> Variables = new()
    {
        ["ESB_RABBITMQ"] = "amqp://esb:secret@localhost",
        ["ESB_POSTGRES"] = "Host=localhost;Username=esb;Password=secret",
        ["ESB_BACKEND"] = "http://localhost:9000",
    };

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-compiled-");

    public void Dispose() => _folder.Delete(recursive: true);

    [TestCase("orders"), TestCase("mediation"), TestCase("database"), TestCase("transactions"), TestCase("csv-import")]
    public void Processes_compile_where_nothing_that_runs_is_registered(string sample)
    {
        IServiceCollection services = new ServiceCollection();
        foreach (var descriptor in new ServiceCollection().AddEsb())
        {
            if (descriptor.ImplementationInstance is CompileService or ConfigSection or SettingsKind)
                services.Add(descriptor);
        }

        var folder = Path.GetFullPath($"../../../../samples/{sample}", Path.GetDirectoryName(Here())!);
        var processes = Compile(services, folder).Get<ProcessModels>();

        Assert.That(processes.All, Is.Not.Empty);
        Assert.That(processes.All.Select(process => process.Steps.IsWhole), Is.All.True);
    }

    [Test]
    public void Step_factory_that_asks_for_something_that_runs_fails_at_once()
    {
        var services = new ServiceCollection().AddEsb().AddCompiling<IStepFactory, PublisherAsking>();

        var refusal = Assert.Throws<InvalidOperationException>(() => Compile(services, Write("any", "//order/@id")));

        Assert.That(refusal!.Message, Does.Contain(nameof(ITopicPublisher)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Two_revisions_are_alive_and_each_answers_by_its_own(CancellationToken cancellationToken)
    {
        var first = Compile(new ServiceCollection().AddEsb(), Write("old", "//order/@id"));
        await using var old = PutIntoService(first);
        await using var changed = PutIntoService(Compile(new ServiceCollection().AddEsb(), Write("new", "//order/@number")));

        Assert.That(await AnswerAsync(old, cancellationToken), Is.EqualTo("old 7"));
        Assert.That(await AnswerAsync(changed, cancellationToken), Is.EqualTo("new 8"));
        Assert.That(await AnswerAsync(old, cancellationToken), Is.EqualTo("old 7"));
    }

    private static BusModel Compile(IServiceCollection services, string path)
    {
        var errors = new ConfigErrors();
        var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(path, Variables, errors);
        Assert.That(errors.All, Is.Empty);
        var model = CompilePhase.Compile(services, configuration!, errors, TimeProvider.System);
        Assert.That(errors.All, Is.Empty);
        return model;
    }

    private static ServiceProvider PutIntoService(BusModel model) =>
        model
            .AddTo(
                new ServiceCollection()
                    .AddLogging()
                    .AddSingleton(TimeProvider.System)
                    .AddSingleton<TraceSwitch>()
                    .AddScoped<IProcessCatalog, ProcessCatalog>()
            )
            .BuildServiceProvider();

    private static async Task<string> AnswerAsync(IServiceProvider services, CancellationToken cancellationToken)
    {
        var context = new MessageContext(Some.Message("""<order id="7" number="8"/>"""), "door");
        await services
            .GetRequiredService<IRevisions>()
            .Current.Services.GetRequiredService<IProcessCatalog>()
            .Find("main")
            .RunAsync(context, cancellationToken);
        return context.Message.Body.ReadText();
    }

    private string Write(string name, string xpath)
    {
        var file = Path.Combine(_folder.FullName, $"{name}.json");
        File.WriteAllText(
            file,
            $$"""
            { "processes": {
                "main": [{ "set": { "properties": { "id": { "xpath": "{{xpath}}" } } } }, { "run": "answer" }],
                "answer": [{ "respond": { "template": "{{name}} {property.id}" } }] } }
            """
        );
        return file;
    }

    private sealed class PublisherAsking(ITopicPublisher publisher) : IStepFactory
    {
        public string Kind => publisher.ToString()!;

        public StepModel Compile(StepConfig step, IStepCompiler compiler) => new(step, Kind);
    }

    private static string Here([CallerFilePath] string here = "") => here;
}
