using System.Collections.Concurrent;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Outbox;
using Esb.IntegrationTests.Sql;
using Esb.Storage.Encryption;
using Esb.Tests;

namespace Esb.IntegrationTests.Transactions;

/// <summary>An outbox of a bus of a test's own, whose lanes several hosts look after.</summary>
internal abstract class OutboxFixture
{
    protected Shop Shop { get; private set; } = null!;

    protected Database Database { get; private set; } = null!;

    protected OutboxTable Table { get; private set; } = null!;

    [SetUp]
    public async Task CreateOutbox()
    {
        Shop = await Shop.CreateAsync();
        Database = Shop.Open();
        Table = new OutboxTable($"bus-{Guid.NewGuid():N}", BodyCipher.None);
        await Database.Tables.EnsureReadyAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task DropOutbox()
    {
        await Database.DisposeAsync();
        await Shop.DisposeAsync();
    }

    /// <summary>Puts messages in.</summary>
    /// <returns>The lane that all of them take.</returns>
    protected async Task<short> AddAsync(IEnumerable<EsbMessage> messages, CancellationToken cancellationToken)
    {
        var outgoing = messages.Select(message => new OutgoingMessage(message, "door", null, default)).ToList();
        return (
            await Database.UseAsync(
                "shop",
                TimeSpan.FromSeconds(10),
                (connection, limited) => Table.AddAsync(connection, outgoing, limited),
                cancellationToken
            )
        ).Single();
    }

    protected static EsbMessage Keyed(string key) => Some.Message(subject: "orders.new", key: key);

    /// <summary>Keys that take the same lane.</summary>
    protected static IReadOnlyList<string> KeysOfOneLane(int count) =>
        [
            .. Enumerable
                .Range(0, 1000)
                .Select(number => $"c-{number}")
                .GroupBy(key => LaneOf(Keyed(key)))
                .First(keys => keys.Count() >= count)
                .Take(count),
        ];

    private static short LaneOf(EsbMessage message) => OutboxLanes.LaneOf(message, OutboxLanes.HashOf(message));

    /// <summary>Takes what is published, after what the test does first. Thread-safe.</summary>
    protected sealed class Publisher(Func<OutgoingMessage, Task>? before = null) : IOutgoingPublisher
    {
        private readonly ConcurrentQueue<Guid> _published = new();

        public IReadOnlyList<Guid> Published => [.. _published];

        public async Task<Task> PublishAsync(OutgoingMessage outgoing, CancellationToken cancellationToken)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (before is not null)
                await before(outgoing);
            _published.Enqueue(outgoing.Message.Id);
            return Task.CompletedTask;
        }
    }
}
