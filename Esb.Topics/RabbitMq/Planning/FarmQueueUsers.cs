using Esb.Core.Errors;
using Esb.Core.Planning;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Farm;

namespace Esb.Topics.RabbitMq.Planning;

/// <summary>The hosts of a farm, reached over the broker.</summary>
internal sealed class FarmQueueUsers(FarmVisit visit, string endpoint, Action<string> tell) : IQueueUsers
{
    // The requesting process may die. A migration that it began keeps the hosts away longer: they check whether one is in progress.
    private static readonly TimeSpan LetGoFor = TimeSpan.FromMinutes(3);

    // A publish in flight ends within 10 s; callers of the hosts wait meanwhile.
    private static readonly TimeSpan HoldPatience = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan HoldFor = TimeSpan.FromSeconds(20);

    /// <summary>The time-out for hosts to release the queues: deliveries in progress finish first.</summary>
    public TimeSpan LetGoPatience { get; init; } = TimeSpan.FromSeconds(90);

    /// <summary>The time-out for hosts to confirm that they resume.</summary>
    public TimeSpan GoOnPatience { get; init; } = TimeSpan.FromSeconds(30);

    public async Task LetGoAsync(CancellationToken cancellationToken)
    {
        if (visit.Hosts.Count == 0)
            return;
        tell($"{endpoint}: asking {NamesOf(visit.Hosts)} to let go of its queues");
        var answers = await visit.AskAsync<LetGoOfQueues, QueuesLetGo>(
            new LetGoOfQueues(endpoint, LetGoFor),
            LetGoPatience,
            cancellationToken
        );
        if (answers.Silent.Count > 0)
            throw Silent(answers.Silent, $"let go of the queues of '{endpoint}'");
    }

    public void RefuseOldHosts()
    {
        if (visit.OldHosts is not { Count: > 0 } old)
            return;
        throw new EsbException(
            "ESB-PLAN-BUSY",
            $"{NamesOf(old)} is of release 0.1, and would not find the queues of '{endpoint}' under their new names. Nothing was "
                + $"touched. Stop it, wait until it is missed, and apply again.",
            FaultKind.Invalid
        );
    }

    public async Task<IAsyncDisposable> HoldPublishesAsync(IReadOnlyList<string> destinations, CancellationToken cancellationToken)
    {
        var hold = new Hold(visit, destinations);
        var answers = await visit.AskAsync<HoldPublishes, PublishesHeld>(
            new HoldPublishes(destinations, HoldFor),
            HoldPatience,
            cancellationToken
        );
        if (answers.Silent.Count == 0)
            return hold;
        await hold.DisposeAsync();
        throw Silent(answers.Silent, $"hold back what it publishes for '{endpoint}'");
    }

    public async Task GoOnAsync()
    {
        if (visit.Hosts.Count == 0)
            return;
        var answers = await visit.AskAsync<LetGoOfQueues, QueuesLetGo>(
            new LetGoOfQueues(endpoint, TimeSpan.Zero),
            GoOnPatience,
            CancellationToken.None
        );
        if (answers.Silent.Count > 0)
            tell($"{endpoint}: {NamesOf(answers.Silent)} did not answer, and goes on within {LetGoFor.TotalMinutes} minutes");
    }

    private static EsbException Silent(IEnumerable<FarmHost> hosts, string what) =>
        new(
            "ESB-PLAN-BUSY",
            $"{NamesOf(hosts)} did not answer when asked to {what}. Nothing is lost. Stop that host, or wait until it answers, and "
                + $"apply again.",
            FaultKind.Invalid
        );

    private static string NamesOf(IEnumerable<FarmHost> hosts) => string.Join(", ", hosts.Select(host => host.Name));

    private sealed class Hold(FarmVisit visit, IReadOnlyList<string> destinations) : IAsyncDisposable
    {
        public async ValueTask DisposeAsync() =>
            await visit.AskAsync<HoldPublishes, PublishesHeld>(
                new HoldPublishes(destinations, TimeSpan.Zero),
                HoldPatience,
                CancellationToken.None
            );
    }
}
