using System.Globalization;
using System.Text;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Content;

/// <summary>Interchanges whose host is killed while it divides them, and started again with another configuration.</summary>
[CancelAfter(240_000)]
[OwnProcess]
public sealed class SplitRevisionTests
{
    private const int Rows = 1_500;
    private const int Second = 20;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(90);

    private DirectoryInfo _folder = null!;
    private RunningHost? _host;

    [SetUp]
    public void MakeFolder()
    {
        _folder = Directory.CreateTempSubdirectory("esb-revision-");
        _folder.CreateSubdirectory("in");
    }

    [TearDown]
    public async Task StopHost()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Thorough")]
    public async Task Interchange_continues_with_the_steps_the_map_and_the_format_that_it_began_with(CancellationToken cancellationToken)
    {
        Configure("first", delimiter: ",", map: "first {{ input.number }}");
        await StartAsync(cancellationToken);
        Drop("rows.csv", ",", Rows);
        await WaitAsync(() => Written().Count >= 600, "to write 600 rows", cancellationToken);
        _host!.Kill();
        await _host.DisposeAsync();
        Assert.That(Written(), Has.Count.LessThan(Rows), "killed in the middle");

        Configure("second", delimiter: ";", map: "second {{ input.number }}");
        await StartAsync(cancellationToken);
        await WaitAsync(() => File.Exists(PathOf("in", "done", "rows.csv")), "to end the interchange", cancellationToken);
        var resumed = Written();
        Drop("again.csv", ";", Second);
        await WaitAsync(() => File.Exists(PathOf("in", "done", "again.csv")), "to divide another file", cancellationToken);

        Assert.That(
            resumed.Order(),
            Is.EqualTo(Enumerable.Range(0, Rows).Select(number => $"first first {number}").Order()),
            "step and map of each row"
        );
        Assert.That(
            Written().Except(resumed).Order(),
            Is.EqualTo(Enumerable.Range(0, Second).Select(number => $"second second {number}").Order())
        );
        await _host!.WaitForLogAsync(cancellationToken, "with which they began");
    }

    [Test, Category("Thorough")]
    public async Task Interchange_continues_with_the_running_configuration_where_its_own_does_not_compile_any_more(
        CancellationToken cancellationToken
    )
    {
        Configure("first", delimiter: ",", map: "first {{ input.number }}", endpoint: "out");
        await StartAsync(cancellationToken);
        Drop("rows.csv", ",", Rows);
        await WaitAsync(() => Written().Count >= 600, "to write 600 rows", cancellationToken);
        _host!.Kill();
        await _host.DisposeAsync();

        Configure("second", delimiter: ",", map: "second {{ input.number }}", endpoint: "renamed");
        await StartAsync(cancellationToken);
        await WaitAsync(() => File.Exists(PathOf("in", "done", "rows.csv")), "to end the interchange", cancellationToken);

        var marks = Written().Select(text => text.Split(' ')[0]).Distinct();
        Assert.That(marks, Is.EquivalentTo(new[] { "first", "second" }));
        await _host!.WaitForLogAsync(cancellationToken, "does not compile any more");
    }

    private void Configure(string mark, string delimiter, string map, string endpoint = "out")
    {
        File.WriteAllText(PathOf("row.liquid"), map);
        File.WriteAllText(
            PathOf("esb.json"),
            $$"""
            {
              "name": "revision",
              "formats": { "rows": { "type": "csv", "delimiter": "{{delimiter}}", "columns": { "number": "integer", "text": "string" } } },
              "maps": { "row": "row.liquid" },
              "endpoints": {
                "in": { "type": "file-inbound", "folder": "in", "pattern": "*.csv", "interval": "100ms", "process": "divide" },
                "{{endpoint}}": { "type": "file-outbound", "folder": "out", "fileName": "{message.id}.txt", "poolSize": 4 }
              },
              "processes": {
                "divide": [{ "id": "rows", "split": { "format": "rows", "steps": [
                  { "throttle": { "rate": 500, "burst": 1 } },
                  { "transform": "row" },
                  { "set": { "properties": { "made": { "message": "body" } } } },
                  { "set": { "body": { "template": "{{mark}} {property.made}" } } },
                  { "call": "{{endpoint}}" }
                ] } }]
              }
            }
            """
        );
    }

    // Under another name first: the endpoint must not see half of it.
    private void Drop(string name, string delimiter, int rows)
    {
        var text = new StringBuilder($"number{delimiter}text\n");
        for (var number = 0; number < rows; number++)
            text.Append(
                CultureInfo.InvariantCulture,
                $"{number}{delimiter}a text that makes the file long enough to keep its place {number}\n"
            );
        File.WriteAllText(PathOf(name), text.ToString());
        File.Move(PathOf(name), PathOf("in", name));
    }

    // Those that are being written have hidden names.
    private List<string> Written() =>
        Directory.Exists(PathOf("out"))
            ? [.. Directory.GetFiles(PathOf("out")).Where(file => !Path.GetFileName(file).StartsWith('.')).Select(File.ReadAllText)]
            : [];

    private Task WaitAsync(Func<bool> condition, string what, CancellationToken cancellationToken) =>
        _host!.WaitAsync(_ => Task.FromResult(condition()), Limit, what, cancellationToken);

    private string PathOf(params ReadOnlySpan<string> parts) => Path.Combine([_folder.FullName, .. parts]);

    private async Task StartAsync(CancellationToken cancellationToken) =>
        _host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken);
}
