using System.Globalization;
using System.Text.RegularExpressions;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Files that a host writes under names with dates and with the name of the file they came from.</summary>
[CancelAfter(60_000)]
public sealed partial class FileNameTests
{
    private const string Name = "Käse & Brot 7.txt";
    private const string Letters = "yyyyMMdd-HHmmss";

    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    private string Out => Path.Combine(_folder.FullName, "out");

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-names-");
        _folder.CreateSubdirectory("in");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "topics": { "files": {} },
              "endpoints": {
                "in": { "type": "file-inbound", "folder": "in", "pattern": "*.txt", "interval": "100ms", "publish": "files.new" },
                "out": {
                  "type": "file-outbound", "subscribe": ["files.new"], "folder": "out",
                  "fileName": "{message.createdAt:{{Letters}}}_{now:{{Letters}}}_{now Asia/Tokyo:{{Letters}}}_{file.name}"
                }
              }
            }
            """
        );
        _host = await RunningHost.StartAsync("esb.json", _folder.FullName, CancellationToken.None);
    }

    [TearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task File_is_written_under_its_name_with_the_times_of_the_message_and_of_writing(CancellationToken cancellationToken)
    {
        var before = TimeProvider.System.GetUtcNow();
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "unfinished"), "Brie", cancellationToken);
        File.Move(Path.Combine(_folder.FullName, "unfinished"), Path.Combine(_folder.FullName, "in", Name));

        string[] files = [];
        await _host.WaitAsync(
            _ => Task.FromResult((files = Directory.Exists(Out) ? Directory.GetFiles(Out, "*.txt") : []).Length == 1),
            TimeSpan.FromSeconds(30),
            "to write the file",
            cancellationToken
        );
        var after = TimeProvider.System.GetUtcNow();

        var parts = Parts().Match(Path.GetFileName(files[0]));
        Assert.That(parts.Success, Is.True, files[0]);
        var times = parts.Groups.Values.Skip(1).SkipLast(1).Select(group => TimeOf(group.Value)).ToList();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(parts.Groups[4].Value, Is.EqualTo(Name));
            Assert.That(times[0], Is.InRange(before.AddSeconds(-1), after), "when the message entered the bus, to the second");
            Assert.That(times[1], Is.InRange(times[0], after), "when the file was written");
            Assert.That(times[2] - times[1], Is.InRange(TimeSpan.FromHours(9), TimeSpan.FromHours(9) + TimeSpan.FromSeconds(2)));
            Assert.That(await File.ReadAllTextAsync(files[0], cancellationToken), Is.EqualTo("Brie"));
        }
    }

    private static DateTimeOffset TimeOf(string text) =>
        DateTimeOffset.ParseExact(text, Letters, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal);

    [GeneratedRegex(@"^(\d{8}-\d{6})_(\d{8}-\d{6})_(\d{8}-\d{6})_(.+)$")]
    private static partial Regex Parts();
}
