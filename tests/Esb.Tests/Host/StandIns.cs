using System.Runtime.CompilerServices;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Host;
using Esb.Storage;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Host;

/// <summary>Stands in for what the other projects bring, so that tests of the host depend on the host alone.</summary>
internal static class StandIns
{
    /// <summary>What a bus is made of: the host itself, and stand-ins for everything else.</summary>
    public static IServiceCollection Services() =>
        new ServiceCollection()
            .AddEsbConfiguration()
            .AddEsbHost()
            .AddSection<IReadOnlyDictionary<string, StandInListener>>(
                "listeners",
                "Where requests come in.",
                """{ "public": { "url": "http://127.0.0.1:8080" } }"""
            )
            .AddSection<StandInAudit>("audit", "How messages are recorded.")
            .AddSingleton(new SettingsKind(typeof(TransportConfig), "memory", typeof(StandInTransport), "In this process."))
            .AddStore<FileStoreConfig>(
                "file",
                "In files.",
                (_, _) => throw new NotSupportedException(),
                (config, reading, logger) => StoreReader.Open(config, logger, reading.Configuration)
            )
            .AddStore<PostgresStoreConfig>("postgres", "In PostgreSQL.", (_, _) => throw new NotSupportedException(), StoreReader.Open)
            .AddSingleton(new SettingsKind(typeof(EndpointConfig), "http-inbound", typeof(StandInInbound), "Takes requests."))
            .AddSingleton(new SettingsKind(typeof(EndpointConfig), "file-outbound", typeof(StandInOutbound), "Writes files."))
            .AddSingleton(new SettingsKind(typeof(StepConfig), "log", typeof(StandInStep), "Logs."))
            .AddSingleton(Transport())
            .AddSingleton(Farm())
            .AddSingleton(Substitute.For<IAuditTrail>())
            .AddModel(_ => Processes())
            .AddSingleton(Substitute.For<IUnroutableMessages>())
            .AddSingleton<RecordingPublisher>()
            .AddSingleton<ITopicPublisher>(services => services.GetRequiredService<RecordingPublisher>())
            .AddSingleton(Substitute.For<IDeadLetterStore>())
            .AddSingleton(Substitute.For<IReplayJobStore>())
            .AddSingleton(Substitute.For<IConfigurationVersions>())
            .AddSingleton(Substitute.For<Esb.Core.Marks.IMarks>())
            .AddSingleton<Esb.Delivery.Marks.ProcessorLoad>()
            .AddSingleton(Substitute.For<IDeadLetterDesk>())
            .AddSingleton(Substitute.For<IParkingDesk>())
            .AddSingleton(Substitute.For<Esb.Core.Workflows.IWorkflowStore>())
            .AddSingleton(Substitute.For<Esb.Core.Itineraries.IItineraryRuns>())
            .AddSingleton(Substitute.For<Esb.Core.Workflows.IWorkflowCounts>())
            .AddSingleton(Substitute.For<Esb.Core.Workflows.IWorkflowControl>())
            .AddSingleton(Substitute.For<Esb.Core.Workflows.IWorkflowBatches>())
            .AddSingleton(Substitute.For<Esb.Core.Workflows.IWorkflowChanges>())
            .AddSingleton(Substitute.For<Esb.Core.Processes.Tracing.IProcessTraces>())
            .AddSingleton(Substitute.For<IAuditReplayDesk>())
            .AddSingleton(Substitute.For<IAuditEvidence>())
            .AddSingleton(Substitute.For<IActivityDesk>())
            .AddSingleton<ListedAuditStore>()
            .AddSingleton<IAuditStore>(services => services.GetRequiredService<ListedAuditStore>());

    private static IFarm Farm()
    {
        var farm = Substitute.For<IFarm>();
        var self = FarmHost.OfThisProcess();
        farm.Self.Returns(self);
        farm.Hosts.Returns([self]);
        return farm;
    }

    private static ITopicTransport Transport()
    {
        var transport = Substitute.For<ITopicTransport>();
        transport.System.Returns("memory");
        return transport;
    }

    private static ProcessModels Processes()
    {
        var step = new StepConfig
        {
            Kind = "log",
            Settings = new StandInStep { Message = "hello" },
            Path = "processes.receive-order[0].log",
            Origin = ConfigOrigin.Default,
        };
        var steps = new StepListModel([new StepModel(step, "log(hello)")], _ => (_, _) => ValueTask.CompletedTask);
        return new ProcessModels(new Dictionary<string, StepListModel> { ["receive-order"] = steps });
    }
}

internal sealed record StandInListener : SettingsRecord
{
    [Setting("Where it listens.")]
    public required string Url { get; init; }
}

internal sealed record StandInTransport : TransportConfig;

internal sealed record StandInAudit : AuditEvidenceConfig;

internal sealed record StandInInbound : InboundEndpointConfig
{
    [Setting("The path.", Name = "path")]
    public required string RequestPath { get; init; }

    public override IReadOnlyList<string> AddressPaths => ["listeners.public.url", $"{Path}.path"];
}

internal sealed record StandInOutbound : OutboundEndpointConfig
{
    [Setting("The folder.", IsPath = true)]
    public required string Folder { get; init; }

    public override string Address => Folder;
}

internal sealed record StandInStep : SettingsRecord
{
    [Setting("The text.", Main = true)]
    public required string Message { get; init; }
}

/// <summary>Remembers what was published.</summary>
internal sealed class RecordingPublisher : ITopicPublisher
{
    private readonly List<(EsbMessage Message, string Subject)> _published = [];

    public Exception? Failure { get; set; }

    public IReadOnlyList<(EsbMessage Message, string Subject)> Published => _published;

    public ValueTask PublishAsync(MessageContext context, Subject subject, string step, CancellationToken cancellationToken)
    {
        if (Failure is not null)
            throw Failure;
        _published.Add((context.Message, subject.Value));
        return ValueTask.CompletedTask;
    }

    public ValueTask<OutgoingMessage> CopyAsync(
        MessageContext context,
        Subject subject,
        string step,
        CancellationToken cancellationToken
    ) => throw new NotSupportedException();

    public ValueTask RequestAsync(
        MessageContext context,
        Subject subject,
        TimeSpan timeout,
        string step,
        CancellationToken cancellationToken
    ) => throw new NotSupportedException();
}

/// <summary>Finds what is in a list, and remembers what it was asked for.</summary>
internal sealed class ListedAuditStore : IAuditStore
{
    public List<AuditFact> Facts { get; } = [];

    public AuditQuery? Asked { get; private set; }

    public Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken) => throw new NotSupportedException();

    public async IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        Asked = query;
        await Task.CompletedTask;
        foreach (
            var fact in Facts
                .Where(fact =>
                    (query.Before is null || fact.Id.CompareTo(query.Before.Value) < 0)
                    && (query.MessageId ?? fact.MessageId) == fact.MessageId
                )
                .Take(query.Limit)
        )
            yield return fact;
    }

    public Task<IReadOnlyList<AuditFact>> GetJourneyAsync(AuditJourneyQuery query, CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<AuditFact>>([.. Facts.Where(fact => fact.MessageId == query.MessageId)]);
}
