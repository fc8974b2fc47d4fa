using System.Globalization;
using Esb.Core.Audit;
using Esb.Storage.Postgres.Audit;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Benches;

/// <summary>What the bus itself says of its messages: in its store, and in the queues of its broker.</summary>
internal sealed class BusRecords(NpgsqlDataSource store, PrivateServers servers, string prefix)
{
    private static readonly AuditKind[] Terminal =
    [
        AuditKind.Delivered,
        AuditKind.Duplicate,
        AuditKind.Replied,
        AuditKind.Filtered,
        AuditKind.DeadLettered,
        AuditKind.Discarded,
    ];

    /// <summary>The terminal states of every message at an endpoint, each kind once. A copy that was recognised has the state that the
    /// message has: it was delivered.</summary>
    public async Task<ILookup<Guid, string>> ReadTerminalStatesAsync(string endpoint, CancellationToken cancellationToken)
    {
        var facts = await ReadFactsAsync(endpoint, cancellationToken);
        return facts
            .Where(fact => Terminal.Contains(fact.Kind))
            .Select(fact => (fact.MessageId, Kind: fact.Kind == AuditKind.Duplicate ? AuditKind.Delivered : fact.Kind))
            .Distinct()
            .ToLookup(fact => fact.MessageId, fact => $"{fact.Kind}");
    }

    /// <summary>How many copies were recognised at an endpoint and not handled again.</summary>
    public async Task<int> CountDuplicatesAsync(string endpoint, CancellationToken cancellationToken) =>
        (
            await store.QueryAsync<int>(
                "select count(*) from esb.audit_event where endpoint = @endpoint and kind = 'Duplicate'",
                new { endpoint },
                cancellationToken
            )
        )[0];

    /// <summary>The messages that wait in the store: dead letters, and the lines of parked keys.</summary>
    public async Task<IReadOnlySet<Guid>> ReadKeptAsync(string endpoint, CancellationToken cancellationToken) =>
        (
            await store.QueryAsync<Guid>(
                "select message_id from esb.dead_letter where endpoint = @endpoint and state = 'Open' union all select message_id "
                    + "from esb.parked_message where endpoint = @endpoint",
                new { endpoint },
                cancellationToken
            )
        ).ToHashSet();

    /// <summary>The names, without extension, of the files whose messages are dead letters.</summary>
    public async Task<IReadOnlySet<string>> ReadKeptFilesAsync(string endpoint, CancellationToken cancellationToken) =>
        (
            await store.QueryAsync<string>(
                "select headers ->> 'x-file-name' from esb.dead_letter where endpoint = @endpoint and state = 'Open' and headers ? "
                    + "'x-file-name'",
                new { endpoint },
                cancellationToken
            )
        )
            .Select(name => Path.GetFileNameWithoutExtension(name))
            .ToHashSet();

    /// <summary>The messages of all facts of a kind at an endpoint, or anywhere: each as often as there is a fact.</summary>
    public async Task<IReadOnlyList<Guid>> ReadMessagesAsync(AuditKind kind, string? endpoint, CancellationToken cancellationToken) =>
        [.. (await ReadFactsAsync(endpoint, cancellationToken)).Where(fact => fact.Kind == kind).Select(fact => fact.MessageId)];

    /// <summary>All facts of an endpoint, or all there are.</summary>
    public async Task<IEnumerable<AuditFact>> ReadFactsAsync(string? endpoint, CancellationToken cancellationToken)
    {
        var rows = await store.QueryAsync<PostgresAuditRow>(
            $"select {PostgresAuditQuery.Columns} from esb.audit_event e where @endpoint is null or e.endpoint = @endpoint",
            new { endpoint },
            cancellationToken
        );
        return rows.SelectMany(row => row.ToFacts());
    }

    /// <summary>Messages in each queue of the bus, those under way included.</summary>
    public Task<IReadOnlyDictionary<string, int>> ReadQueuesAsync() => ReadQueuesAsync("messages");

    /// <summary>Messages in each queue that a host has and has not settled.</summary>
    public Task<IReadOnlyDictionary<string, int>> ReadUnsettledAsync() => ReadQueuesAsync("messages_unacknowledged");

    /// <summary>Messages that wait for an endpoint, for their next attempt too.</summary>
    public int WaitingFor(string endpoint, IReadOnlyDictionary<string, int> queues) =>
        queues
            .Where(queue =>
                queue.Key == $"endpoints.{prefix}.{endpoint}"
                || queue.Key.StartsWith($"endpoints.{prefix}.{endpoint}.", StringComparison.Ordinal)
            )
            .Where(queue => !queue.Key.EndsWith(".record", StringComparison.Ordinal)) // keeps a note of the bus, no message of anybody
            .Sum(queue => queue.Value);

    /// <summary>How many messages may be on their way to each consumer of an endpoint's queue.</summary>
    public async Task<IReadOnlyList<int>> ReadPrefetchesAsync(string endpoint) =>
        [
            .. (await ListAsync("list_consumers", "queue_name", "prefetch_count"))
                .Where(row => row.Name == $"endpoints.{prefix}.{endpoint}")
                .Select(row => row.Value),
        ];

    private async Task<IReadOnlyDictionary<string, int>> ReadQueuesAsync(string column) =>
        (await ListAsync("list_queues", "name", column)).ToDictionary(row => row.Name, row => row.Value);

    // What is ours, without our prefix.
    private async Task<IEnumerable<(string Name, int Value)>> ListAsync(string command, string name, string value)
    {
        var output = await servers.ControlRabbitMqAsync("--silent", command, name, value, "--no-table-headers");
        return output
            .Split('\n')
            .Select(line => line.Split('\t'))
            .Where(parts => parts.Length == 2 && parts[0].StartsWith($"{prefix}.", StringComparison.Ordinal))
            .Select(parts => (parts[0][(prefix.Length + 1)..], int.Parse(parts[1], CultureInfo.InvariantCulture)));
    }
}
