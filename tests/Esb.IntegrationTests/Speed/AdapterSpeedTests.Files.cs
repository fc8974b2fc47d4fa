using System.Text;
using Esb.Tests;
using Esb.Tests.Endpoints.Files;

namespace Esb.IntegrationTests.Speed;

/// <summary>Files of a folder, beside the classes of .NET.</summary>
public sealed partial class AdapterSpeedTests
{
    private const int WaitingFiles = 4_000; // a look waits until files are quiet

    [TestCase(1), TestCase(8)]
    public async Task File_in(int atOnce, CancellationToken cancellationToken)
    {
        var folder = Directory.CreateTempSubdirectory("esb-speed-");

        await CompareAsync(
            "file-inbound",
            "System.IO: rename, read, rename",
            atOnce,
            WaitingFiles,
            async () =>
            {
                foreach (var file in folder.GetFiles("*", SearchOption.AllDirectories))
                    file.Delete();
                for (var i = 0; i < WaitingFiles; i++)
                    await File.WriteAllTextAsync(Path.Combine(folder.FullName, $"{i:0000}.xml"), Body, cancellationToken);
            },
            () => TakePlainAsync(folder, atOnce, cancellationToken),
            async () =>
            {
                var tally = new Tally(WaitingFiles);
                var config = SomeFiles.InboundConfig(folder.FullName) with { MaxConcurrentCalls = atOnce };
                await using var endpoint = SomeFiles.Inbound(config, new CountingIntake(tally.Add));
                await endpoint.StartAsync(cancellationToken);
                await tally.Took.WaitAsync(cancellationToken);
                await endpoint.StopAsync(cancellationToken);
            }
        );
        folder.Delete(recursive: true);
    }

    [TestCase(1), TestCase(8)]
    public async Task File_out(int atOnce, CancellationToken cancellationToken)
    {
        var folder = Directory.CreateTempSubdirectory("esb-speed-");
        await using var adapter = SomeFiles.Outbound(folder.FullName);

        await CompareAsync(
            "file-outbound",
            "System.IO: write, flush, rename",
            atOnce,
            Files,
            () =>
            {
                foreach (var file in folder.GetFiles())
                    file.Delete();
                return Task.CompletedTask;
            },
            () => SplitAsync(Files, atOnce, i => WritePlainAsync(Path.Combine(folder.FullName, $"{i}"), cancellationToken)),
            () => SendAllAsync(adapter, Files, atOnce, () => Some.Message(Body), cancellationToken)
        );
        folder.Delete(recursive: true);
    }

    private static Task TakePlainAsync(DirectoryInfo folder, int atOnce, CancellationToken cancellationToken)
    {
        var claimed = folder.CreateSubdirectory("claimed").FullName;
        var done = folder.CreateSubdirectory("done").FullName;
        var files = Directory.GetFiles(folder.FullName);
        return SplitAsync(
            files.Length,
            atOnce,
            async i =>
            {
                var (name, own) = (Path.GetFileName(files[i]), Path.Combine(claimed, Path.GetFileName(files[i])));
                File.Move(files[i], own);
                _ = await File.ReadAllBytesAsync(own, cancellationToken);
                File.Move(own, Path.Combine(done, name));
            }
        );
    }

    private static async Task WritePlainAsync(string path, CancellationToken cancellationToken)
    {
        await using (var file = File.Create($"{path}.part"))
        {
            await file.WriteAsync(Encoding.UTF8.GetBytes(Body), cancellationToken);
            file.Flush(flushToDisk: true);
        }

        File.Move($"{path}.part", $"{path}.xml");
    }
}
