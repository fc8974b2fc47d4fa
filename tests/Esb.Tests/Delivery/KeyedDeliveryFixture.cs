using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Storage.Sql.Parking;
using Esb.Storage.Sqlite;
using Esb.Tests.Storage;
using NSubstitute;

namespace Esb.Tests.Delivery;

/// <summary>An endpoint that keeps the order of each key, over a store of parked messages in a folder.</summary>
public abstract class KeyedDeliveryFixture : DeliveryFixture
{
    private protected static readonly TestOutboundConfig ByKey = new()
    {
        Delivery = DeliveryMode.OrderedByKey,
        PoolSize = 8,
        ProcessingThreads = 8,
    };

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-keyed-");
    private readonly List<string?> _released = [];
    private SqliteDatabase _database = null!;

    private protected ParkingStore Store { get; private set; } = null!;

    /// <summary>The lane that messages come from, as long as this host has it.</summary>
    private protected DeliverySource Source { get; set; } = new(0, Guid.NewGuid(), CancellationToken.None);

    [SetUp]
    public void OpenStore()
    {
        _database = SomeDatabase.In(_folder.FullName, Time);
        Parking = Store = new ParkingStore(_database, Time);
        Queues
            .When(queues => queues.SendAsync("an-endpoint", Arg.Any<EsbMessage>(), DeliveryKind.Release, Arg.Any<CancellationToken>()))
            .Do(call =>
            {
                lock (_released)
                    _released.Add(call.Arg<EsbMessage>().Key);
            });
    }

    [TearDown]
    public async Task CloseStore()
    {
        await Controller.StopAsync(CancellationToken.None);
        await _database.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    private protected Task<Settlement> DeliverAsync(string? key, int number, CancellationToken cancellationToken) =>
        DeliverAsync(Delivery(Some.Message($"{number}", key: key)) with { Source = Source }, cancellationToken);

    private protected Task<Settlement> ReleaseAsync(string? key, CancellationToken cancellationToken) =>
        DeliverAsync(Delivery(Some.Message("", key: key)) with { Kind = DeliveryKind.Release, Source = Source }, cancellationToken);

    private protected async Task ReleaseDueAsync(TimeSpan after, CancellationToken cancellationToken)
    {
        Time.Advance(after);
        await ReleaseAsync("a", cancellationToken);
    }

    private protected string Sent() => string.Join(' ', Outside.Attempts.Select(message => message.Body.ReadText()));

    /// <summary>The keys that were sent to their lane for release.</summary>
    private protected List<string?> Released()
    {
        lock (_released)
            return [.. _released];
    }

    private protected async Task<string> LineAsync(string key) =>
        string.Join(
            ' ',
            (await Store.MessagesAsync("an-endpoint", key, 0, 1000, CancellationToken.None)).Select(parked =>
                parked.Message.Body.ReadText()
            )
        );
}
