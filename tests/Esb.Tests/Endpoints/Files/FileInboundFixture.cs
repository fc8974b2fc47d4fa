using Esb.Endpoints.Files;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Files;

/// <summary>Endpoints that read files, and a folder that is removed after each test.</summary>
internal abstract class FileInboundFixture
{
    private DirectoryInfo _folder = null!;

    protected string Folder => _folder.FullName;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    protected async Task<FileInboundEndpoint> StartAsync(RecordingIntake intake, FileInboundConfig? config = null, LogLines? log = null)
    {
        var endpoint = SomeFiles.Inbound(config ?? SomeFiles.InboundConfig(Folder), intake, log);
        await endpoint.StartAsync(CancellationToken.None);
        return endpoint;
    }

    /// <summary>Puts a file in as a whole: whoever looks while it is written finds none.</summary>
    protected static async Task PutAsync(string path, string text, CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync($"{path}.part", text, cancellationToken);
        File.Move($"{path}.part", path);
    }

    protected string At(params ReadOnlySpan<string> parts) => Path.Combine([Folder, .. parts]);

    protected List<string> Done() => Directory.Exists(At("done")) ? [.. Directory.GetFiles(At("done"))] : [];

    protected List<string> Claimed() =>
        [
            .. Directory
                .GetFiles(
                    At(".claimed"),
                    "*",
                    new EnumerationOptions
                    {
                        RecurseSubdirectories = true,
                        AttributesToSkip = 0,
                        IgnoreInaccessible = true,
                    }
                )
                .Where(path => !path.EndsWith(".lock", StringComparison.Ordinal)),
        ];
}
