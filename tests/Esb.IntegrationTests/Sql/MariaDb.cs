using System.Diagnostics;
using Esb.Tests;
using MySqlConnector;

namespace Esb.IntegrationTests.Sql;

/// <summary>A MariaDB server of a fixture's own, on loopback.</summary>
internal sealed class MariaDb : IAsyncDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-mariadb-");
    private readonly int _port = FreePorts.Next();
    private Process? _process;

    public string ConnectionString => $"Server=127.0.0.1;Port={_port};User ID=esb;Password=secret;Database=shop;SSL Mode=None";

    public static async Task<MariaDb> StartAsync()
    {
        if (!File.Exists("/usr/sbin/mariadbd"))
            Assert.Fail("mariadb-server is not installed: run ./test, or apt-get install mariadb-server.");
        var server = new MariaDb();
        await server.PrepareAsync();
        await server.StartAgainAsync();
        return server;
    }

    public async Task StartAgainAsync()
    {
        var data = Path.Combine(_folder.FullName, "data");
        _process = Process.Start(
            new ProcessStartInfo(
                "/usr/sbin/mariadbd",
                [
                    "--no-defaults",
                    $"--datadir={data}",
                    $"--port={_port}",
                    "--bind-address=127.0.0.1",
                    $"--socket={_folder.FullName}/socket",
                    $"--user={Environment.UserName}",
                    $"--init-file={_folder.FullName}/init.sql",
                    $"--log-error={_folder.FullName}/log",
                    "--innodb-buffer-pool-size=32M",
                    "--skip-name-resolve",
                ]
            )
        )!;
        var started = TimeProvider.System.GetTimestamp();
        while (!await IsReadyAsync())
        {
            if (_process.HasExited || TimeProvider.System.GetElapsedTime(started) > TimeSpan.FromSeconds(90))
                Assert.Fail($"mariadbd did not start:\n{await File.ReadAllTextAsync($"{_folder.FullName}/log")}");
            await Task.Delay(50);
        }
    }

    public async Task ExecuteAsync(string sql)
    {
        await using var connection = new MySqlConnection(ConnectionString);
        await connection.OpenAsync();
        await using var command = new MySqlCommand(sql, connection);
        await command.ExecuteNonQueryAsync();
    }

    public async Task<List<string>> ReadAsync(string sql)
    {
        await using var connection = new MySqlConnection(ConnectionString);
        await connection.OpenAsync();
        await using var command = new MySqlCommand(sql, connection);
        await using var reader = await command.ExecuteReaderAsync();
        var values = new List<string>();
        while (await reader.ReadAsync())
            values.Add($"{reader.GetValue(0)}");
        return values;
    }

    public async Task KillAsync()
    {
        if (_process is null)
            return;
        _process.Kill();
        await _process.WaitForExitAsync();
        _process.Dispose();
        _process = null;
    }

    public async ValueTask DisposeAsync()
    {
        await KillAsync();
        MySqlConnection.ClearAllPools();
        _folder.Delete(recursive: true);
    }

    private async Task PrepareAsync()
    {
        await File.WriteAllTextAsync(
            $"{_folder.FullName}/init.sql",
            "create database if not exists shop;\ncreate user if not exists esb@'%' identified by 'secret';\ngrant all on shop.* to "
                + "esb@'%';\n"
        );
        using var install = Process.Start(
            new ProcessStartInfo(
                "mariadb-install-db",
                [
                    "--no-defaults",
                    $"--datadir={_folder.FullName}/data",
                    "--auth-root-authentication-method=normal",
                    "--skip-test-db",
                    $"--user={Environment.UserName}",
                ]
            )
            {
                RedirectStandardOutput = true,
                RedirectStandardError = true,
            }
        )!;
        var (output, errors) = (install.StandardOutput.ReadToEndAsync(), install.StandardError.ReadToEndAsync());
        await install.WaitForExitAsync();
        Assert.That(install.ExitCode, Is.Zero, await output + await errors);
    }

    private async Task<bool> IsReadyAsync()
    {
        try
        {
            await ExecuteAsync("select 1");
            return true;
        }
        catch (MySqlException)
        {
            return false;
        }
    }
}
