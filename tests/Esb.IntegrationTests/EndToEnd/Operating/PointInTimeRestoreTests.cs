using System.Text.RegularExpressions;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>The database of the store goes back to a moment before a mistake, with the settings and commands of
/// docs/operate/backup.md.</summary>
[CancelAfter(240_000), Category("Thorough")]
public sealed partial class PointInTimeRestoreTests : RestoreFixture
{
    [Test]
    public async Task Farm_is_as_it_was_at_the_moment_before_a_mistake(CancellationToken cancellationToken)
    {
        var data = await AskAsync<string>("show data_directory");
        var backup = Path.Combine(Path.GetDirectoryName(data)!, "backup");
        await AsOwnerAsync($"mkdir -p '{backup}/wal'", cancellationToken);
        await File.AppendAllTextAsync(Path.Combine(data, "postgresql.conf"), Documented("archive_command", backup), cancellationToken);
        await RestartAsync(() => Task.CompletedTask);

        string moment;
        await using (var host = await StartAsync("before", "live", """{ "fail": "not yet" }""", Servers.Postgres, cancellationToken))
        {
            await PostAsync(host, "/letters", "1", cancellationToken);
            await PostAsync(host, "/jobs", "job-1", cancellationToken);
            await AwaitAsync(host, "/api/dead-letters", 1, cancellationToken);
            await AwaitAsync(host, "/api/workflows", 1, cancellationToken);
            await AsOwnerAsync(Documented("pg_basebackup", backup), cancellationToken);
            await PostAsync(host, "/letters", "2", cancellationToken);
            await PostAsync(host, "/parked", "a", cancellationToken);
            await AwaitAsync(host, "/api/dead-letters", 2, cancellationToken);
            await AwaitAsync(host, "/api/parked", 1, cancellationToken);
            moment = await AskAsync<string>("select clock_timestamp()::text");
            await PostAsync(host, "/letters", "3", cancellationToken);
            await AwaitAsync(host, "/api/dead-letters", 3, cancellationToken);
            await AskAsync<object>("delete from esb.dead_letter; delete from esb.workflow_instance; delete from esb.parked_message");
            Assert.That(await host.StopAsync(cancellationToken), Is.Zero, host.Output);
        }

        await RestartAsync(async () =>
        {
            await AsOwnerAsync($"mv '{data}' '{data}.before' && cp -a '{backup}/base' '{data}'", cancellationToken);
            var settings = Time().Replace(Documented("recovery_target_time", backup), $"recovery_target_time = '{moment}'");
            await File.AppendAllTextAsync(Path.Combine(data, "postgresql.conf"), settings, cancellationToken);
            await AsOwnerAsync($"touch '{data}/recovery.signal'", cancellationToken);
        });
        while (await AskAsync<bool>("select pg_is_in_recovery()"))
            await Task.Delay(100, cancellationToken);

        await using var restored = await StartAsync("after", "empty", """{ "log": "goes" }""", Servers.Postgres, cancellationToken);
        var letters = await ItemsAsync(restored, "/api/dead-letters", cancellationToken);
        var parked = await ItemsAsync(restored, "/api/parked", cancellationToken);
        Assert.That(letters, Has.Count.EqualTo(2), "the third was after the moment");
        Assert.That(parked.Select(one => one.GetProperty("count").GetInt64()), Is.EqualTo(new[] { 1L }));
        await PostAsync(restored, "/go", "job-1", cancellationToken);
        await restored.WaitAsync(
            async token =>
                (await ItemsAsync(restored, "/api/workflows", token)).Select(one => one.GetProperty("state").GetString()).Single()
                == "completed",
            TimeSpan.FromSeconds(60),
            "to complete the workflow",
            cancellationToken
        );
        Assert.That(await restored.StopAsync(cancellationToken), Is.Zero, restored.Output);

        var verified = await EsbAsync(restored, Servers.Postgres, cancellationToken, "audit", "verify", "--config", restored.Folder);
        Assert.That(verified.ExitCode, Is.Zero, verified.Output + verified.Error);
    }

    // A block of the page, with another folder for the backups.
    private static string Documented(string setting, string backup) =>
        Block()
            .Matches(File.ReadAllText(Repository.PathOf("docs", "operate", "backup.md")))
            .Select(match => match.Groups["text"].Value)
            .Single(block => block.Contains(setting, StringComparison.Ordinal))
            .Replace("/backup/", $"{backup}/", StringComparison.Ordinal);

    private async Task RestartAsync(Func<Task> meanwhile)
    {
        NpgsqlConnection.ClearAllPools();
        await Servers.StopPostgresAsync();
        await meanwhile();
        await Servers.StartPostgresAsync();
    }

    private async Task<T> AskAsync<T>(string sql)
    {
        await using var source = NpgsqlDataSource.Create(Servers.Postgres);
        await using var command = source.CreateCommand(sql);
        return (T)(await command.ExecuteScalarAsync())!;
    }

    // PostgreSQL's own programs and files belong to its user, which is not that of tests that run as root.
    private Task AsOwnerAsync(string command, CancellationToken cancellationToken)
    {
        var server = new NpgsqlConnectionStringBuilder(Servers.Postgres);
        var script = $"cd / && export PGHOST={server.Host} PGPORT={server.Port} PGUSER={server.Username}\n{command}";
        return Environment.IsPrivilegedProcess
            ? RunAsync("runuser", ["-u", "postgres", "--", "bash", "-euc", script], cancellationToken)
            : RunAsync("bash", ["-euc", script], cancellationToken);
    }

    [GeneratedRegex(@"```\w*\n(?<text>.*?)```", RegexOptions.Singleline)]
    private static partial Regex Block();

    [GeneratedRegex("recovery_target_time = '[^']*'")]
    private static partial Regex Time();
}
