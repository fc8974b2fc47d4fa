using System.Diagnostics;
using Dapper;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Npgsql;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage;

/// <summary>What dead letters need of the database itself.</summary>
public sealed class PostgresDeadLetterTests
{
    private TestSchema _schema = null!;

    [SetUp]
    public async Task Start() => _schema = await TestSchema.StartAsync();

    [TearDown]
    public Task Remove() => _schema.DisposeAsync().AsTask();

    [Test, Category("Soak"), CancelAfter(120_000)]
    public async Task A_hundred_thousand_letters_are_listed_grouped_and_taken_by_a_job(CancellationToken cancellationToken)
    {
        await _schema.QueryAsync<int>(
            """
            insert into dead_letter (id, message_id, endpoint, conversation_id, subject, created_at, attempt, headers, body, code, reason, attempts, first_attempt, last_attempt, cause)
            select gen_random_uuid(), gen_random_uuid(), 'endpoint-' || n % 10, gen_random_uuid(), 'orders.accepted', now(), 0, '{"x-order": "A-1001"}', decode(repeat('ab', 1000), 'hex'),
              'ESB-SQL-TIMEOUT', 'Order ' || n || ' is unknown.', 3, now(), now(), 'Order # is unknown.'
            from generate_series(1, 100000) n;
            analyze dead_letter;
            """
        );
        var letters = _schema.Store.DeadLetters;
        var started = Stopwatch.GetTimestamp();

        var page = await letters
            .FindAsync(
                new()
                {
                    Filter = new() { Endpoint = "endpoint-7" },
                    Before = 50_000,
                },
                cancellationToken
            )
            .ToListAsync(cancellationToken);
        var listed = Stopwatch.GetElapsedTime(started);
        var groups = await letters.GroupAsync(new() { State = DeadLetterState.Open }, byCause: true, cancellationToken);
        var grouped = Stopwatch.GetElapsedTime(started) - listed;
        var job = await _schema.Store.ReplayJobs.CreateAsync(
            new ReplayJob
            {
                Id = Guid.CreateVersion7(),
                Command = "c",
                Fingerprint = "f",
                Request = new ReplayRequest { Letters = new() },
                CreatedAt = SomeLetters.Now,
                CreatedBy = "ada",
            },
            cancellationToken
        );
        var taken = Stopwatch.GetElapsedTime(started) - listed - grouped;

        TestContext.Out.WriteLine(
            $"listed in {listed.TotalMilliseconds:0} ms, grouped in {grouped.TotalMilliseconds:0} ms, taken in "
                + $"{taken.TotalMilliseconds:0} ms"
        );
        Assert.That(page, Has.Count.EqualTo(100));
        Assert.That(groups.Select(group => group.Count), Is.EqualTo(Enumerable.Repeat(10_000, 10)));
        Assert.That(job!.Total, Is.EqualTo(100_000));
        Assert.That(listed, Is.LessThan(TimeSpan.FromSeconds(1)));
        Assert.That(grouped, Is.LessThan(TimeSpan.FromSeconds(1)));
        Assert.That(taken, Is.LessThan(TimeSpan.FromSeconds(30)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Letters_of_the_tables_of_before_keep_their_place_and_get_their_ids(CancellationToken cancellationToken)
    {
        var letter = SomeLetters.Letter(reason: $"Order {Guid.NewGuid()} of 7 items is unknown.");
        await _schema.QueryAsync<int>($"drop schema {_schema.Config.Schema} cascade; create schema {_schema.Config.Schema}");
        await using (var connection = new NpgsqlConnection(_schema.Config.Connection + $";Search Path={_schema.Config.Schema}"))
        {
            await connection.ExecuteAsync(
                await File.ReadAllTextAsync(Repository.PathOf("Esb.Storage", "Postgres", "Migrations", "0001-audit.sql"), cancellationToken)
            );
            await connection.ExecuteAsync(
                await File.ReadAllTextAsync(
                    Repository.PathOf("Esb.Storage", "Postgres", "Migrations", "0002-dead-letters.sql"),
                    cancellationToken
                )
            );
            await connection.ExecuteAsync(
                """
                create table schema_version (number integer primary key, name text not null, applied_at timestamptz not null default now());
                insert into schema_version (number, name) values (1, '0001-audit'), (2, '0002-dead-letters');
                insert into dead_letter (message_id, endpoint, conversation_id, subject, created_at, attempt, headers, body, code, reason, attempts, first_attempt, last_attempt)
                values (@Id, @Endpoint, @Id, 'orders.accepted', now(), 0, '{}', '', 'ESB-SQL-TIMEOUT', @Reason, 3, now(), now())
                """,
                new
                {
                    letter.Message.Id,
                    letter.Endpoint,
                    letter.Reason,
                }
            );
        }

        var store = await _schema.ReopenAsync();

        var kept = await store.DeadLetters.GetAsync(letter.Id, cancellationToken);
        var group = (await store.DeadLetters.GroupAsync(new(), byCause: true, cancellationToken)).Single();
        Assert.That((kept!.Summary.State, kept.Summary.MessageId), Is.EqualTo((DeadLetterState.Open, letter.Message.Id)));
        Assert.That(group.Cause, Is.EqualTo(DeadLetterCause.Of(letter.Reason)).And.EqualTo("Order # of # items is unknown."));
    }
}
