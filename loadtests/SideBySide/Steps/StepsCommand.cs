using SideBySide.Reports;
using SideBySide.Scenarios;
using SideBySide.Servers;
using SideBySide.Targets;

namespace SideBySide.Steps;

/// <summary><c>loadtests/steps</c>: sizes and steps of callers, the best rate kept.</summary>
internal sealed class StepsCommand(Surroundings surroundings, bool isQuick)
{
    // Published in 2010 for another bus on another machine: only what falls from column to column compares.
    private static readonly (string Name, string Path, bool IsReversed, string Published)[] Cases =
    [
        ("direct proxy", "relay", false, "2,561 / 2,230 / 672 / 76"),
        ("relay with policies", "policies", false, "3,010 / 2,884 / 1,005 / 92"),
        ("routing by content", "route", false, "2,274 / 2,077 / 547 / 53"),
        ("XSLT both ways", "reverse", true, "588 / 525 / 174 / 24"),
    ];

    private IEnumerable<int> Callers => isQuick ? [20, 100, 300] : Enumerable.Range(0, 8).Select(step => 20 + (40 * step));

    private int Seconds => isQuick ? 1 : 5;

    public static async Task<int> RunAsync(IReadOnlyCollection<string> arguments)
    {
        if (!Surroundings.HasProgram("k6"))
        {
            Console.WriteLine("k6 was not found: skipped");
            return 77;
        }

        var surroundings = Surroundings.FromEnvironment();
        var table = await new StepsCommand(surroundings, arguments.Contains("--quick")).MeasureAsync(CancellationToken.None);
        var file = Path.Combine(Directory.CreateDirectory(Path.Combine(surroundings.Root, "loadtests/results")).FullName, "steps.md");
        await File.WriteAllTextAsync(file, table);
        Console.WriteLine(table);
        return table.Contains("wrong", StringComparison.Ordinal) ? 1 : 0;
    }

    private async Task<string> MeasureAsync(CancellationToken cancellationToken)
    {
        var folder = surroundings.Folder("backend");
        var documents = new OrderDocuments(Directory.CreateDirectory(Path.Combine(folder, "www")).FullName);
        await using var backend = await Backend.StartAsync(surroundings, folder, cancellationToken);
        await using var host = await EsbHost.StartAsync(
            surroundings,
            "mediation",
            "steps",
            [new("ESB_BACKEND", backend.Url), .. Limits],
            cancellationToken
        );
        var lines = new List<string[]>();
        foreach (var (name, path, isReversed, published) in Cases)
        {
            var cells = new List<string> { name };
            foreach (var size in OrderDocuments.Sizes.Keys)
            {
                var body = isReversed ? documents.Reversed(size) : documents.Plain(size);
                cells.Add(await BestAsync($"{host.Url}/{path}", body, cancellationToken));
                Console.WriteLine($"{name}, {size}: {cells[^1]}");
            }

            lines.Add([.. cells, published]);
        }

        return MarkdownTable.Write(["", .. OrderDocuments.Sizes.Keys, "published"], lines);
    }

    // More callers than a host lets in by default are part of the method.
    private static IEnumerable<KeyValuePair<string, string>> Limits =>
        [
            new("ESB__LIMITS__INFLIGHTHIGH", "2000"),
            new("ESB__LIMITS__INFLIGHTLOW", "1000"),
            new("ESB__ENDPOINTS__ROUTE__MAXCONCURRENTCALLS", "400"),
            new("ESB__ENDPOINTS__REVERSE__MAXCONCURRENTCALLS", "400"),
        ];

    private async Task<string> BestAsync(string url, string body, CancellationToken cancellationToken)
    {
        // The first answer is looked at by those who know what it must be; k6 compares all others with it.
        var first = await Http.PostAsync(
            url,
            await File.ReadAllBytesAsync(body, cancellationToken),
            "text/xml; charset=utf-8",
            cancellationToken
        );
        if (OrderDocuments.SameXmlAs(body)(first.Body) is { } flaw)
            return $"wrong: {flaw}";
        var answer = Path.Combine(surroundings.Folder("answer"), "answer");
        await File.WriteAllBytesAsync(answer, first.Body, cancellationToken);
        await StepAsync(url, body, answer, callers: 100, Math.Max(1, Seconds), cancellationToken); // warm
        var steps = new List<StepResult>();
        foreach (var callers in Callers)
            steps.Add(await StepAsync(url, body, answer, callers, Seconds, cancellationToken));
        return StepResult.Best(steps);
    }

    private async Task<StepResult> StepAsync(
        string url,
        string body,
        string answer,
        int callers,
        int seconds,
        CancellationToken cancellationToken
    )
    {
        var result = Path.Combine(surroundings.Folder("k6"), "result");
        string[] command =
        [
            "k6",
            "run",
            "--quiet",
            "--no-usage-report",
            "--address",
            "",
            "-e",
            $"TARGET={url}",
            "-e",
            $"BODY={body}",
            "-e",
            $"ANSWER={answer}",
            "-e",
            $"RESULT={result}",
            "-e",
            $"VUS={callers}",
            "-e",
            $"SECONDS={seconds}",
            "-e",
            $"KEEP_ALIVE={Environment.GetEnvironmentVariable("ESB_KEEP_ALIVE") ?? "on"}",
            surroundings.Find("loadtests/mediation.js"),
        ];
        try
        {
            await Tool.RunAsync(command, [], TimeSpan.FromSeconds(seconds + 90), cancellationToken);
        }
        catch (NotRunException) when (File.Exists(result))
        {
            // A broken threshold: the result says what was wrong.
        }

        return StepResult.Parse(callers, await File.ReadAllTextAsync(result, cancellationToken));
    }
}
