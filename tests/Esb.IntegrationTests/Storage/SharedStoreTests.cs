using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.IntegrationTests.Storage.Audit;
using Esb.Storage;
using Esb.Storage.Files;
using Esb.Storage.Postgres;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.Storage;

/// <summary>Two configurations of different names with endpoints of one name, on one store: neither sees or holds up what the other
/// has.</summary>
[TestFixture, CancelAfter(60_000)]
internal abstract class SharedStoreContract
{
    private const string Endpoint = "orders-db";

    private static readonly DateTimeOffset Now = SomeLetters.Now;

    private readonly Guid _message = Guid.CreateVersion7();

    /// <summary>Opens the store for a configuration; null for a release that knew no owners. It may be the only one that is open.</summary>
    protected abstract Task<Store> OpenAsync(string? configuration);

    /// <summary>The store as commands read it.</summary>
    protected abstract StoreReader Read(string configuration);

    [Test]
    public async Task What_one_keeps_of_an_endpoint_is_not_there_for_the_other_and_stays(CancellationToken cancellationToken)
    {
        await using (var shop = await OpenAsync("shop"))
            await FillAsync(shop, "shop", cancellationToken);

        await using (var bank = await OpenAsync("bank"))
        {
            await VerifyEmptyAsync(bank, cancellationToken);
            await FillAsync(bank, "bank", cancellationToken);
        }

        await using (var shop = await OpenAsync("shop"))
            await VerifyFullAsync(shop, "shop", cancellationToken);
        await using (var bank = await OpenAsync("bank"))
            await VerifyFullAsync(bank, "bank", cancellationToken);
        Assert.That(await ReasonsAsync(Read("shop"), cancellationToken), Is.EqualTo(["shop"]));
        Assert.That(await ReasonsAsync(Read("bank"), cancellationToken), Is.EqualTo(["bank"]));
    }

    [Test]
    public async Task Store_that_was_used_before_belongs_to_the_first_configuration_that_comes(CancellationToken cancellationToken)
    {
        await using (var before = await OpenAsync(configuration: null))
            await FillAsync(before, "before", cancellationToken);

        await using (var shop = await OpenAsync("shop"))
            await VerifyFullAsync(shop, "before", cancellationToken);
        await using (var bank = await OpenAsync("bank"))
            await VerifyEmptyAsync(bank, cancellationToken);
        await using (var shop = await OpenAsync("shop"))
            await VerifyFullAsync(shop, "before", cancellationToken);
    }

    [Test]
    public async Task Facts_are_found_by_all(CancellationToken cancellationToken)
    {
        var fact = SomeFacts.Fact();
        await using (var shop = await OpenAsync("shop"))
            await shop.Audit.AppendAsync([fact], cancellationToken);
        await using var bank = await OpenAsync("bank");

        var found = await bank.Audit.GetJourneyAsync(new AuditJourneyQuery { MessageId = fact.MessageId }, cancellationToken);

        Assert.That(found.Select(one => one.Id), Is.EqualTo([fact.Id]));
    }

    private async Task FillAsync(Store store, string reason, CancellationToken cancellationToken)
    {
        var message = Message();
        await store.DeadLetters.AddAsync(
            new DeadLetter(message, Endpoint, "ESB-SQL-TIMEOUT", reason, null, 3, Now, Now),
            cancellationToken
        );
        await store.Attempts.KeepAsync(
            Endpoint,
            _message,
            new KeptAttempts(2, [new FailedAttempt(Now, "ESB-SQL-TIMEOUT", reason)], Now),
            cancellationToken
        );
        var owner = await store.Parking.TakeLaneAsync(Endpoint, 0, cancellationToken);
        await store.Parking.ParkAsync(
            owner,
            new ParkedMessage(message, Now, [new FailedAttempt(Now, "ESB-SQL-TIMEOUT", reason)], DueAt: null),
            cancellationToken
        );
        await store.IdempotencyKeys.ClaimAsync(new IdempotencyKey(Endpoint, "client", "key"), new byte[32], cancellationToken);
        await store.Leases.AcquireAsync(Endpoint, reason, TimeSpan.FromHours(1), cancellationToken);
        await store.ReplayJobs.CreateAsync(
            SomeLetters.Job(new ReplayRequest { Letters = new DeadLetterFilter() }) with
            {
                Command = "replay",
            },
            cancellationToken
        );
    }

    private async Task VerifyEmptyAsync(Store store, CancellationToken cancellationToken)
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(await store.DeadLetters.FindAsync(new DeadLetterQuery(), cancellationToken).CountAsync(cancellationToken), Is.Zero);
            Assert.That(await store.Attempts.FindAsync(Endpoint, _message, cancellationToken), Is.Null);
            Assert.That(await store.Parking.ListAsync(Endpoint, null, 10, cancellationToken), Is.Empty);
            Assert.That((await store.Parking.TakeLaneAsync(Endpoint, 0, cancellationToken)).Token, Is.EqualTo(1), "the lane had no owner");
            Assert.That(
                await store.IdempotencyKeys.ClaimAsync(new IdempotencyKey(Endpoint, "client", "key"), new byte[32], cancellationToken),
                Is.InstanceOf<KeyClaim.Granted>()
            );
            Assert.That(await store.Leases.AcquireAsync(Endpoint, "another", TimeSpan.Zero, cancellationToken), Is.Not.Null);
            Assert.That(await store.ReplayJobs.ListAsync(before: null, 10, cancellationToken), Is.Empty);
        }
    }

    private async Task VerifyFullAsync(Store store, string reason, CancellationToken cancellationToken)
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                await store
                    .DeadLetters.FindAsync(new DeadLetterQuery(), cancellationToken)
                    .Select(letter => letter.Reason)
                    .ToListAsync(cancellationToken),
                Is.EqualTo([reason])
            );
            Assert.That(
                (await store.Attempts.FindAsync(Endpoint, _message, cancellationToken))?.Failures.Select(failure => failure.Reason),
                Is.EqualTo([reason])
            );
            Assert.That((await store.Parking.ListAsync(Endpoint, null, 10, cancellationToken)).Select(key => key.Key), Is.EqualTo(["k"]));
            Assert.That(await store.ReplayJobs.ListAsync(before: null, 10, cancellationToken), Has.Count.EqualTo(1));
        }
    }

    private static async Task<List<string>> ReasonsAsync(StoreReader store, CancellationToken cancellationToken)
    {
        await using var reader = store;
        return await reader
            .DeadLetters.FindAsync(new DeadLetterQuery(), cancellationToken)
            .Select(letter => letter.Reason)
            .ToListAsync(cancellationToken);
    }

    private EsbMessage Message() =>
        new()
        {
            Id = _message,
            ConversationId = _message,
            CreatedAt = Now,
            Subject = "orders.accepted",
            Key = "k",
        };
}

internal sealed class SharedFolderTests : SharedStoreContract
{
    private FileStoreConfig _config = null!;

    [SetUp]
    public void CreateFolder() => _config = new FileStoreConfig { Folder = Directory.CreateTempSubdirectory("esb-").FullName };

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_config.Folder, recursive: true);

    protected override async Task<Store> OpenAsync(string? configuration)
    {
        var store = new FileStore(_config, TimeProvider.System, NullLogger<FileStore>.Instance, configuration);
        await store.StartAsync(default);
        return store;
    }

    protected override StoreReader Read(string configuration) => StoreReader.Open(_config, NullLogger.Instance, configuration);
}

internal sealed class SharedDatabaseTests : SharedStoreContract
{
    private TestSchema _schema = null!;

    [SetUp]
    public async Task CreateSchema() => _schema = await TestSchema.StartAsync();

    [TearDown]
    public async Task DropSchema()
    {
        await _schema.RunAsync($"drop schema if exists {StoreShare.SchemaOf(_schema.Config.Schema, "bank")} cascade");
        await _schema.DisposeAsync();
    }

    [Test]
    public async Task Both_at_once_have_the_lane_and_the_lease_of_an_endpoint_and_share_bodies(CancellationToken cancellationToken)
    {
        await using var shop = await OpenAsync("shop");
        await using var bank = await OpenAsync("bank");

        var lanes = new[]
        {
            await shop.Parking.TakeLaneAsync("ledger", 0, cancellationToken),
            await bank.Parking.TakeLaneAsync("ledger", 0, cancellationToken),
        };
        var leases = new[]
        {
            await shop.Leases.AcquireAsync("ledger", "a", TimeSpan.FromHours(1), cancellationToken),
            await bank.Leases.AcquireAsync("ledger", "b", TimeSpan.FromHours(1), cancellationToken),
        };
        var ticket = await shop.ClaimChecks.PutAsync(new byte[] { 1, 2, 3 }, cancellationToken);
        var body = await bank.ClaimChecks.FindAsync(ticket, cancellationToken);

        Assert.That(lanes.Select(lane => lane.Token), Is.All.EqualTo(1));
        await shop.Parking.VerifyAsync(lanes[0], cancellationToken);
        await bank.Parking.VerifyAsync(lanes[1], cancellationToken);
        Assert.That(leases, Is.All.Not.Null);
        Assert.That(body?.Bytes.ToArray(), Is.EqualTo([1, 2, 3]));
    }

    [Test]
    public async Task Schema_that_another_configuration_has_is_not_taken(CancellationToken cancellationToken)
    {
        await using (await OpenAsync("shop"))
        {
            var taken = _schema.Config with { Schema = StoreShare.SchemaOf(_schema.Config.Schema, "bank") };
            await using (var stranger = Open(taken, "stranger"))
                await stranger.StartAsync(cancellationToken);
        }

        await using var bank = Open(_schema.Config, "bank");
        var refused = Assert.ThrowsAsync<EsbException>(() => bank.StartAsync(cancellationToken));

        Assert.That(refused!.Code, Is.EqualTo("ESB-STORE-OWNER"));
    }

    protected override async Task<Store> OpenAsync(string? configuration)
    {
        var store = Open(_schema.Config, configuration);
        await store.StartAsync(default);
        return store;
    }

    protected override StoreReader Read(string configuration) =>
        StoreReader.Open(_schema.Config, new StoreReading(configuration, _schema.Evidence), NullLogger.Instance);

    private PostgresStore Open(PostgresStoreConfig config, string? configuration) =>
        new(
            config with
            {
                Folder = Path.Combine(config.Folder, configuration ?? "before"),
            },
            _schema.Evidence with
            {
                Anchors = null,
                AnchorKey = null,
            },
            TimeProvider.System,
            NullLogger<PostgresStore>.Instance,
            configuration
        );
}
