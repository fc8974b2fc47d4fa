using System.Diagnostics;
using System.Text.RegularExpressions;
using Esb.Tests;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>Runs the blocks of a page of the tutorial in their order, in a folder of its own, and compares what they write with the
/// page.</summary>
/// <remarks>
/// A block <c>json NAME</c> is written to that file. A block <c>sh</c> is run by bash, one that ends with <c>esb run</c> as a host; a block
/// <c>text</c> behind it is its output, in which <c>…</c> stands for any text, and alone on a line for any number of lines. <c>sh wait</c>
/// is repeated until its output is as shown. Blocks <c>console</c> are for the reader alone. Ports of the page are replaced by free ones.
/// </remarks>
internal sealed partial class TutorialPage : IAsyncDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly List<RunningHost> _hosts = [];
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-tutorial-");
    private readonly Dictionary<string, string> _variables;
    private readonly Dictionary<string, string> _ports = new()
    {
        ["8080"] = Port(),
        ["8081"] = Port(),
        ["8090"] = Port(),
        ["8091"] = Port(),
    };
    private readonly string _text;

    public TutorialPage(string name, IReadOnlyDictionary<string, string> variables)
    {
        _text = File.ReadAllText(Repository.PathOf("docs", "tutorial", name));
        _variables = new(variables);
    }

    /// <summary>The commands that the page's blocks have run.</summary>
    public int Commands { get; private set; }

    public async Task RunAsync(CancellationToken cancellationToken)
    {
        var blocks = Fences().Matches(_text).Select(Block.From).ToList();
        for (var index = 0; index < blocks.Count; index++)
        {
            var block = blocks[index] with { Text = WithPorts(blocks[index].Text) };
            var expected = index + 1 < blocks.Count && blocks[index + 1].Language == "text" ? WithPorts(blocks[index + 1].Text) : null;
            if (block.Language == "json")
                await File.WriteAllTextAsync(Path.Combine(_folder.FullName, block.Argument), block.Text, cancellationToken);
            if (block.Language == "sh")
                await RunAsync(block, expected, cancellationToken);
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    private static string Port() => $"{FreePorts.Next()}";

    private static bool IsAsShown(string expected, string output)
    {
        var pattern = string.Concat(
            Lines(expected).Select(line => line == "…" ? "(.*\n)*" : Regex.Escape(line).Replace("…", ".*", StringComparison.Ordinal) + "\n")
        );
        var lines = string.Concat(Lines(output).Select(line => line + "\n"));
        return Regex.IsMatch(lines, $"^{pattern}\\z", RegexOptions.CultureInvariant, Limit);
    }

    // Columns of tables are as wide as their values, such as ports and times: only the words are compared.
    private static IEnumerable<string> Lines(string text) => text.Trim('\n').Split('\n').Select(line => Blanks().Replace(line, " ").Trim());

    [GeneratedRegex("^```(?<language>[a-z]+)(?: (?<argument>\\S+))?\n(?<text>.*?)^```", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Fences();

    [GeneratedRegex("\\s+")]
    private static partial Regex Blanks();

    [GeneratedRegex("\\b80[89][01]\\b")]
    private static partial Regex Ports();

    [GeneratedRegex("^export (?<name>\\w+)=(?<value>.*)$", RegexOptions.Multiline)]
    private static partial Regex Exports();

    [GeneratedRegex("^cd (?<folder>\\S+)$", RegexOptions.Multiline)]
    private static partial Regex Changes();

    [GeneratedRegex("^esb run (?<file>\\S+)\n?\\z", RegexOptions.Multiline)]
    private static partial Regex Runs();

    // The command esb, which asks the first host unless it is one that asks none.
    private string Program =>
        $$"""
            esb() {
              case "$1" in
                validate|explain|plan) dotnet '{{Repository.Host}}' "$@" ;;
                *) dotnet '{{Repository.Host}}' "$@" --url http://127.0.0.1:{{_ports["8081"]}} ;;
              esac
            }
            """;

    private string WithPorts(string text) => Ports().Replace(text, match => _ports[match.Value]);

    private async Task RunAsync(Block block, string? expected, CancellationToken cancellationToken)
    {
        Commands++;
        if (Runs().Match(block.Text) is { Success: true } run)
        {
            await RunHostAsync(block.Text, run.Groups["file"].Value, expected, cancellationToken);
            return;
        }

        var started = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var output = await BashAsync(block.Text, cancellationToken);
            if (expected is null || IsAsShown(expected, output))
                return;
            var isOver = block.Argument != "wait" || TimeProvider.System.GetElapsedTime(started) > Limit;
            if (isOver)
                Assert.Fail(
                    $"{block.Text}\nThe page shows:\n{expected}\nbut it "
                        + $"is:\n{output}\n{string.Join('\n', _hosts.Select(host => host.Output))}"
                );
            await Task.Delay(100, cancellationToken);
        }
    }

    private async Task RunHostAsync(string text, string file, string? expected, CancellationToken cancellationToken)
    {
        var folder = Path.Combine(_folder.FullName, Changes().Match(text).Groups["folder"].Value);
        var variables = new Dictionary<string, string>(_variables)
        {
            [RunningHost.PublicUrl] = $"http://127.0.0.1:{_ports["8080"]}",
            [RunningHost.ManagementUrl] = $"http://127.0.0.1:{_ports["8081"]}",
        };
        foreach (var export in Exports().Matches(text).Cast<Match>())
            variables[export.Groups["name"].Value] = export.Groups["value"].Value;
        var host = await RunningHost.StartAsync(file, folder, cancellationToken, variables);
        _hosts.Add(host);
        await host.WaitAsync(
            _ => Task.FromResult(expected is null || IsAsShown(expected, host.Output)),
            Limit,
            $"to write\n{expected}",
            cancellationToken
        );
    }

    private async Task<string> BashAsync(string script, CancellationToken cancellationToken)
    {
        var start = new ProcessStartInfo("bash", ["-c", $"exec 2>&1\n{Program}\n{script}"])
        {
            WorkingDirectory = _folder.FullName,
            RedirectStandardOutput = true,
        };
        foreach (var (name, value) in _variables)
            start.Environment[name] = value;
        using var process = Process.Start(start)!;
        var output = await process.StandardOutput.ReadToEndAsync(cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        return output;
    }

    private sealed record Block(string Language, string Argument, string Text)
    {
        public static Block From(Match match) =>
            new(match.Groups["language"].Value, match.Groups["argument"].Value, match.Groups["text"].Value);
    }
}
