using System.Diagnostics;
using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Microsoft.Data.Sqlite;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>A plug-in that brings a <c>provider</c> of connections, whose client has no batches: built, and used by sql-outbound and
/// sql-inbound of a host.</summary>
[CancelAfter(120_000)]
[OwnProcess]
public sealed class DatabasePluginSampleTests
{
    private static readonly string Sample = Repository.PathOf("samples", "plugin-database");
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(30);

    private DirectoryInfo _folder = null!;

    private Dictionary<string, string> Variables => new() { ["ESB_PLUGINS"] = Path.Combine(_folder.FullName, "plugins") };

    [OneTimeSetUp]
    public async Task BuildPlugin()
    {
        _folder = Directory.CreateTempSubdirectory("esb-plugin-database-");
        File.Copy(Path.Combine(Sample, "esb.json"), Path.Combine(_folder.FullName, "esb.json"));
        var configuration = new DirectoryInfo(AppContext.BaseDirectory).Parent!.Name;
        var start = new ProcessStartInfo(
            "dotnet",
            [
                .. new[] { "publish", Path.Combine(Sample, "Lite"), "-c", configuration, "-p:BuildProjectReferences=false", "-v", "quiet" },
                "-o",
                Path.Combine(_folder.FullName, "plugins", "lite"),
            ]
        )
        {
            RedirectStandardOutput = true,
        };
        using var process = Process.Start(start)!;
        var output = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        Assert.That(process.ExitCode, Is.Zero, output);
    }

    [OneTimeTearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task Orders_go_into_a_table_of_its_database_are_asked_for_and_taken_out(CancellationToken cancellationToken)
    {
        await CreateTablesAsync(cancellationToken);
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);

        foreach (var sku in new[] { "A-1", "'; drop table orders; --", "B-1" })
        {
            using var accepted = await host.PostAsync("/orders", $$"""{ "sku": "{{sku}}" }""", "application/json", cancellationToken);
            Assert.That(accepted.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), host.Output);
        }

        var answer = "";
        await host.WaitAsync(
            async token =>
            {
                using var response = await host.PostAsync("/open-orders", "{}", "application/json", token);
                answer = await response.Content.ReadAsStringAsync(token);
                return answer.Contains("\"n\":3", StringComparison.Ordinal) && !answer.Contains("B-1", StringComparison.Ordinal);
            },
            Soon,
            "to keep two orders and to take one out",
            cancellationToken
        );
        await host.WaitAsync(_ => Task.FromResult(Taken().Length == 1), Soon, "to write the order", cancellationToken);

        Assert.That(answer, Is.EqualTo("""{"results":[[{"sku":"A-1"},{"sku":"'; drop table orders; --"}],[{"n":3}]],"out":{}}"""));
        Assert.That(await File.ReadAllTextAsync(Taken().Single(), cancellationToken), Does.Contain("\"sku\":\"B-1\""));
    }

    [Test]
    public async Task Connection_that_names_no_file_is_an_error_of_the_configuration(CancellationToken cancellationToken)
    {
        var variables = Variables;
        variables["ESB__CONNECTIONS__SHOP__CONNECTION"] = "Colour=blue";

        var (exitCode, _, error) = await CommandLine.RunAsync(_folder.FullName, variables, cancellationToken, "validate", "esb.json");

        Assert.That(
            (exitCode, error.Contains("expected a connection string such as \"Data Source=shop.db\"")),
            Is.EqualTo((3, true)),
            error
        );
    }

    private string[] Taken()
    {
        var folder = Path.Combine(_folder.FullName, "taken");
        return Directory.Exists(folder) ? Directory.GetFiles(folder, "*.json") : [];
    }

    private async Task CreateTablesAsync(CancellationToken cancellationToken)
    {
        await using var connection = new SqliteConnection($"Data Source={Path.Combine(_folder.FullName, "shop.db")}");
        await connection.OpenAsync(cancellationToken);
        await using var command = connection.CreateCommand();
        command.CommandText = await File.ReadAllTextAsync(Path.Combine(Sample, "tables.sql"), cancellationToken);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
