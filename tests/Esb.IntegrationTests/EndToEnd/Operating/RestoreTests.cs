using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>A backup of the store's database, restored into an empty farm: other queues, another database, nothing in the folders of the
/// host.</summary>
[CancelAfter(240_000)]
public sealed class RestoreTests : RestoreFixture
{
    [Test]
    public async Task Restored_farm_has_letters_parked_keys_workflows_versions_and_a_chain_that_verifies(
        CancellationToken cancellationToken
    )
    {
        var connection = new NpgsqlConnectionStringBuilder(Servers.Postgres);
        var dump = Path.Combine(Folder, "esb.dump");
        string letter;
        await using (
            var host = await StartAsync("before", "live", """{ "fail": "not yet" }""", connection.ConnectionString, cancellationToken)
        )
        {
            await PostAsync(host, "/letters", "1", cancellationToken);
            await PostAsync(host, "/parked", "a", cancellationToken);
            await PostAsync(host, "/parked", "a", cancellationToken);
            await PostAsync(host, "/jobs", "job-1", cancellationToken);
            await AwaitAsync(host, "/api/dead-letters", 1, cancellationToken);
            await AwaitAsync(host, "/api/parked", 1, cancellationToken);
            await AwaitAsync(host, "/api/workflows", 1, cancellationToken);
            letter = (await ItemsAsync(host, "/api/dead-letters", cancellationToken))[0].GetProperty("id").GetString()!;
            Assert.That(await host.StopAsync(cancellationToken), Is.Zero, host.Output); // moves its facts to the database
        }

        await RunAsync("pg_dump", ["--format=custom", $"--file={dump}", .. AddressOf(connection), connection.Database!], cancellationToken);
        await using (var source = NpgsqlDataSource.Create(connection))
        await using (var command = source.CreateCommand("create database restored"))
            await command.ExecuteNonQueryAsync(cancellationToken);
        await RunAsync("pg_restore", ["--exit-on-error", .. AddressOf(connection), "--dbname=restored", dump], cancellationToken);

        connection.Database = "restored";
        await using var restored = await StartAsync(
            "after",
            "empty",
            """{ "log": "goes" }""",
            connection.ConnectionString,
            cancellationToken
        );
        var letters = await ItemsAsync(restored, "/api/dead-letters", cancellationToken);
        var parked = await ItemsAsync(restored, "/api/parked", cancellationToken);
        var versions = await ItemsAsync(restored, "/api/configuration/versions", cancellationToken);
        Assert.That(letters.Select(one => one.GetProperty("id").GetString()), Is.EqualTo(new[] { letter }));
        Assert.That(parked.Select(one => one.GetProperty("count").GetInt64()), Is.EqualTo(new[] { 2L }));
        Assert.That(versions, Is.Not.Empty);

        var replayed = await EsbAsync(
            restored,
            connection.ConnectionString,
            cancellationToken,
            "dead-letters",
            "replay",
            letter,
            "--reason",
            "restored"
        );
        var released = await EsbAsync(
            restored,
            connection.ConnectionString,
            cancellationToken,
            "parked",
            "release",
            "keyed",
            parked[0].GetProperty("line").GetString()!,
            "--reason",
            "restored"
        );
        await PostAsync(restored, "/go", "job-1", cancellationToken);
        await AwaitAsync(restored, "/api/parked", 0, cancellationToken);
        await restored.WaitAsync(
            async token =>
                (await ItemsAsync(restored, "/api/workflows", token)).Select(one => one.GetProperty("state").GetString()).Single()
                == "completed",
            TimeSpan.FromSeconds(60),
            "to complete the workflow",
            cancellationToken
        );
        Assert.That((replayed.ExitCode, released.ExitCode), Is.EqualTo((0, 0)), replayed.Error + released.Error);
        Assert.That(await restored.StopAsync(cancellationToken), Is.Zero, restored.Output);

        var verified = await EsbAsync(
            restored,
            connection.ConnectionString,
            cancellationToken,
            "audit",
            "verify",
            "--config",
            restored.Folder
        );
        Assert.That(verified.ExitCode, Is.Zero, verified.Output + verified.Error);
    }
}
