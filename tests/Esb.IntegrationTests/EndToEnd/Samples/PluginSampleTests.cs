using System.Diagnostics;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Topics;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>The template of a plug-in, which nothing of the product references: built, put into a folder and used by a host.</summary>
[OwnProcess]
public sealed class PluginSampleTests
{
    private static readonly string Sample = Repository.PathOf("samples", "plugin");

    private DirectoryInfo _folder = null!;

    private Dictionary<string, string> Variables => new() { ["ESB_PLUGINS"] = Path.Combine(_folder.FullName, "plugins") };

    [OneTimeSetUp]
    public async Task BuildPlugin()
    {
        _folder = Directory.CreateTempSubdirectory("esb-plugin-");
        File.Copy(Path.Combine(Sample, "esb.json"), Path.Combine(_folder.FullName, "esb.json"));
        var configuration = new DirectoryInfo(AppContext.BaseDirectory).Parent!.Name;
        var folder = Path.Combine(_folder.FullName, "plugins", "memo");
        // What it references was built with these tests.
        await DotnetAsync(
            "publish",
            Path.Combine(Sample, "Memo"),
            "-c",
            configuration,
            "-o",
            folder,
            "-p:BuildProjectReferences=false",
            "-v",
            "quiet"
        );
    }

    [OneTimeTearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public void Plug_in_brings_no_copy_of_the_contracts() =>
        Assert.That(
            Directory.GetFiles(Path.Combine(_folder.FullName, "plugins", "memo"), "*.dll").Select(Path.GetFileName),
            Is.EqualTo(["memo.dll"])
        );

    [Test, Category("Thorough")]
    public async Task Its_own_tests_pass()
    {
        var configuration = new DirectoryInfo(AppContext.BaseDirectory).Parent!.Name;

        var output = await DotnetAsync("test", Path.Combine(Sample, "Memo.Tests"), "-c", configuration, "-p:BuildProjectReferences=false");

        Assert.That(output, Does.Match(@"Failed:\s+0, Passed:\s+[1-9]"));
    }

    [Test, CancelAfter(120_000)]
    public async Task Schema_and_explanation_name_what_it_brings(CancellationToken cancellationToken)
    {
        var schema = await CommandLine.RunAsync(_folder.FullName, Variables, cancellationToken, "schema");
        var explained = await CommandLine.RunAsync(_folder.FullName, Variables, cancellationToken, "explain", "esb.json");
        var valid = await CommandLine.RunAsync(_folder.FullName, Variables, cancellationToken, "validate", "esb.json");
        var without = await CommandLine.RunAsync(_folder.FullName, cancellationToken, "validate", "esb.json");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(schema.Output, Does.Contain("memo-outbound").And.Contain("\"hash\""), schema.Error);
            Assert.That(
                explained.Output,
                Does.Contain("keep: hash(digest) → set → publish(notes.new)").And.Contain("memo: memo-outbound"),
                explained.Error
            );
            Assert.That(valid.ExitCode, Is.Zero, valid.Error);
            Assert.That(without.ExitCode, Is.EqualTo(3));
            Assert.That(without.Error, Does.Contain("endpoints.memo.type").And.Contain("unknown step"));
        }
    }

    [Test, CancelAfter(120_000)]
    public async Task Message_passes_its_step_and_its_endpoint_in_a_host_that_names_it(CancellationToken cancellationToken)
    {
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);
        var note = Encoding.UTF8.GetBytes("milk and bread");

        using var answer = await host.Client.PostAsync(new Uri(host.Public, "notes"), new ByteArrayContent(note), cancellationToken);
        var memo = Path.Combine(_folder.FullName, "data", "memo.jsonl");
        await Eventually.HoldsAsync(() => File.Exists(memo) && File.ReadAllText(memo).EndsWith('\n'), cancellationToken);

        var line = JsonDocument.Parse(await File.ReadAllTextAsync(memo, cancellationToken)).RootElement;
        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(line.GetProperty("body").GetString(), Is.EqualTo("milk and bread"));
        Assert.That(line.GetProperty("digest").GetString(), Is.EqualTo(Convert.ToHexStringLower(SHA256.HashData(note))));
        Assert.That(host.Output, Does.Contain("plug-in memo 1.0.0"));
    }

    private static async Task<string> DotnetAsync(params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet", arguments) { RedirectStandardOutput = true, RedirectStandardError = true };
        using var process = Process.Start(start)!;
        var output = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        Assert.That(process.ExitCode, Is.Zero, output);
        return output;
    }
}
