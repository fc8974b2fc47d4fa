using System.Collections.Concurrent;
using System.Diagnostics;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Sql.Batches;
using Esb.Tests;

namespace Esb.IntegrationTests.Sql;

/// <summary>Messages that share a commit, and each still stands for itself.</summary>
[TestFixture, CancelAfter(60_000)]
internal sealed class SqlBatchTests
{
    private const string Insert = "insert into customers (id, name) values (@id, @name)";
    private const string Commits = "select count(distinct xmin::text) from customers";

    private Shop _shop = null!;

    [SetUp]
    public async Task CreateShop() => _shop = await Shop.CreateAsync();

    [TearDown]
    public async Task DropShop() => await _shop.DisposeAsync();

    [Test]
    public async Task Messages_that_come_at_once_share_a_commit(CancellationToken cancellationToken)
    {
        var endpoint = Endpoint(size: 20);

        var failures = await SendAllAsync(endpoint, Enumerable.Range(1, 20).Select(id => Customer(id)), cancellationToken);

        Assert.That(failures, Is.All.Null);
        Assert.That(await _shop.ReadAsync<long>("select count(*) from customers", cancellationToken), Is.EqualTo([20]));
        Assert.That(await _shop.ReadAsync<long>(Commits, cancellationToken), Is.EqualTo([1]));
    }

    [Test]
    public async Task Full_batch_does_not_wait(CancellationToken cancellationToken)
    {
        var endpoint = Endpoint(size: 2, within: TimeSpan.FromSeconds(1));

        var failures = await SendAllAsync(endpoint, Enumerable.Range(1, 40).Select(id => Customer(id)), cancellationToken)
            .WaitAsync(TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That(failures, Is.All.Null);
        Assert.That(await _shop.ReadAsync<long>(Commits, cancellationToken), Is.EqualTo([20]), "waiting each time would have taken 20 s");
    }

    [TestCase(1)]
    [TestCase(9)]
    public async Task What_the_database_refuses_fails_alone(int refused, CancellationToken cancellationToken)
    {
        var endpoint = Endpoint(size: 20);
        var customers = Enumerable
            .Range(1, 20)
            .Select(id => Customer(id, id % 2 == 0 && id <= 2 * refused ? "a name that is too long" : "Ann"));

        var failures = await SendAllAsync(endpoint, customers, cancellationToken);

        Assert.That(
            failures.OfType<EndpointException>().Select(failure => failure.Code),
            Is.EqualTo(Enumerable.Repeat("ESB-SQL-VALUE", refused))
        );
        for (var id = 1; id <= 20; id++)
            Assert.That(failures[id - 1] is null, Is.EqualTo(id % 2 != 0 || id > 2 * refused), $"message {id}");
        Assert.That(await _shop.ReadAsync<long>("select count(*) from customers", cancellationToken), Is.EqualTo([20 - refused]));
    }

    [Test, Property("Case", "AUD-02")]
    public async Task What_the_database_quotes_of_one_message_is_masked_in_the_span_of_the_batch(CancellationToken cancellationToken)
    {
        const string secret = "secret-4711";
        var texts = new ConcurrentQueue<string>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == "Npgsql",
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
            ActivityStopped = span =>
            {
                foreach (var tag in span.Events.SelectMany(happened => happened.Tags))
                    texts.Enqueue(MaskedFlow.Clean($"{tag.Value}"));
            },
        };
        ActivitySource.AddActivityListener(listener);
        var endpoint = Endpoint(size: 3, execute: "insert into customers (id, name) values (@id + cast(@name as integer), 'Ann')");

        await Task.WhenAll(Enumerable.Range(1, 3).Select(id => SendAsync(Customer(id, id == 3 ? secret : "10"))));

        Assert.That(texts, Has.Some.Contain("invalid input syntax").And.Some.Contain("****").And.None.Contain(secret));

        async Task SendAsync(EsbMessage message)
        {
            MaskedFlow.Follow(new WordMask(secret), message);
            try
            {
                await endpoint.SendAsync(message, cancellationToken);
            }
            catch (EndpointException)
            {
                // the third
            }
        }
    }

    [Test]
    public async Task What_only_the_commit_refuses_fails_alone(CancellationToken cancellationToken)
    {
        await _shop.ExecuteAsync(
            "create table regions (name text primary key); insert into regions values ('north'); alter table customers add foreign "
                + "key (country) references regions deferrable initially deferred"
        );
        var endpoint = Endpoint(size: 5, execute: "insert into customers (id, name, country) values (@id, 'Ann', @name)");

        var failures = await SendAllAsync(
            endpoint,
            Enumerable.Range(1, 5).Select(id => Customer(id, id == 3 ? "nowhere" : "north")),
            cancellationToken
        );

        Assert.That(
            failures.Select(failure => (failure as EndpointException)?.Code),
            Is.EqualTo([null, null, "ESB-SQL-CONSTRAINT", null, null])
        );
        Assert.That(await _shop.ReadAsync<int>("select id from customers order by id", cancellationToken), Is.EqualTo([1, 2, 4, 5]));
    }

    [Test]
    public async Task Second_statement_that_is_refused_undoes_the_first_of_its_message_only(CancellationToken cancellationToken)
    {
        var endpoint = Endpoint(
            size: 4,
            execute: "insert into orders values (gen_random_uuid(), @name); insert into customers (id, name) values (@id, @name)"
        );

        var failures = await SendAllAsync(
            endpoint,
            Enumerable.Range(1, 4).Select(id => Customer(id == 4 ? 1 : id, $"{id}")),
            cancellationToken
        );

        Assert.That(failures.Count(failure => failure is EndpointException { Code: "ESB-SQL-CONSTRAINT" }), Is.EqualTo(1));
        Assert.That(
            await _shop.ReadAsync<string>("select body from orders order by body", cancellationToken),
            Is.EqualTo(await _shop.ReadAsync<string>("select name from customers order by name", cancellationToken))
        );
        Assert.That(await _shop.ReadAsync<long>("select count(*) from customers", cancellationToken), Is.EqualTo([3]));
    }

    [Test]
    public async Task Message_that_comes_twice_is_applied_once_and_flagged(CancellationToken cancellationToken)
    {
        var endpoint = Endpoint(size: 6, once: true);
        var messages = Enumerable.Range(1, 5).Select(id => Customer(id)).ToList();

        var answers = await Task.WhenAll(
            messages.Append(messages[2]).Select(message => endpoint.SendAsync(message, cancellationToken).AsTask())
        );
        var again = await Task.WhenAll(messages.Select(message => endpoint.SendAsync(message, cancellationToken).AsTask()));

        Assert.That(answers.Count(answer => DuplicateNotice.Read(answer) is { IsConflict: false }), Is.EqualTo(1));
        Assert.That(
            again.Select(answer => DuplicateNotice.Read(answer)),
            Has.All.Not.Null,
            "a crash before the acknowledgements brings all of them again"
        );
        Assert.That(await _shop.ReadAsync<long>("select count(*) from customers", cancellationToken), Is.EqualTo([5]));
    }

    [Test]
    public async Task Commit_that_is_lost_leaves_none_of_its_messages_done(CancellationToken cancellationToken)
    {
        var endpoint = Endpoint(size: 5);
        Task<Exception?[]> sending;
        await using (await _shop.LockAsync("customers", cancellationToken))
        {
            sending = SendAllAsync(endpoint, Enumerable.Range(1, 5).Select(id => Customer(id)), cancellationToken);
            await Topics.Eventually.HoldsAsync(
                async () =>
                    (
                        await _shop.ReadAsync<bool>(
                            "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and query like "
                                + "'%into customers%' and pid <> pg_backend_pid()",
                            cancellationToken
                        )
                    ).Count > 0,
                cancellationToken
            );
            var failures = await sending;
            Assert.That(failures, Is.All.InstanceOf<EndpointException>().With.Property(nameof(EndpointException.IsOutage)).True);
        }

        Assert.That(await _shop.ReadAsync<int>("select id from customers", cancellationToken), Is.Empty);
    }

    [Test]
    public async Task Message_that_failed_before_goes_alone(CancellationToken cancellationToken)
    {
        var endpoint = Endpoint(size: 4);

        var failures = await SendAllAsync(
            endpoint,
            Enumerable.Range(1, 4).Select(id => Customer(id) with { Attempt = id == 4 ? 2 : 1 }),
            cancellationToken
        );

        Assert.That(failures, Is.All.Null);
        Assert.That(await _shop.ReadAsync<long>(Commits, cancellationToken), Is.EqualTo([2]));
    }

    [Test]
    public async Task Message_that_is_taken_back_while_it_waits_has_no_effect(CancellationToken cancellationToken)
    {
        var endpoint = Endpoint(size: 3, within: TimeSpan.FromMilliseconds(500));
        using var leaving = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);

        var staying = endpoint.SendAsync(Customer(1), cancellationToken).AsTask();
        var left = endpoint.SendAsync(Customer(2), leaving.Token).AsTask();
        await leaving.CancelAsync();
        await staying;

        Assert.That(async () => await left, Throws.InstanceOf<OperationCanceledException>());
        Assert.That(await _shop.ReadAsync<int>("select id from customers", cancellationToken), Is.EqualTo([1]));
    }

    private IOutboundEndpoint Endpoint(int size, string execute = Insert, bool once = false, TimeSpan? within = null) =>
        _shop.Endpoint(
            execute: execute,
            change: config =>
                config with
                {
                    Once = once,
                    Batch = new SqlBatchConfig
                    {
                        Path = "endpoints.db.batch",
                        Size = size,
                        Within = within ?? TimeSpan.FromMilliseconds(300),
                    },
                }
        );

    private static EsbMessage Customer(int id, string name = "Ann") =>
        Some.Message($$"""{ "id": {{id}}, "name": "{{name}}" }""") with
        {
            Attempt = 1,
        };

    private static Task<Exception?[]> SendAllAsync(
        IOutboundEndpoint endpoint,
        IEnumerable<EsbMessage> messages,
        CancellationToken cancellationToken
    ) => Task.WhenAll(messages.Select(message => FailureOfAsync(endpoint, message, cancellationToken)));

    private static async Task<Exception?> FailureOfAsync(
        IOutboundEndpoint endpoint,
        EsbMessage message,
        CancellationToken cancellationToken
    )
    {
        try
        {
            Assert.That(await endpoint.SendAsync(message, cancellationToken), Is.Null);
            return null;
        }
        catch (EndpointException ex)
        {
            return ex;
        }
    }

    /// <summary>Masks a word in messages that have it.</summary>
    private sealed class WordMask(string word) : IMessageMask
    {
        public bool IsEmpty => false;

        public MaskedMessage Apply(EsbMessage message) =>
            message.Body.ReadText().Contains(word, StringComparison.Ordinal)
                ? new MaskedMessage(message, AuditBodyState.Masked, MaskedSecrets.From(new Dictionary<string, string> { [word] = "****" }))
                : MaskedMessage.Unmasked(message);
    }
}
