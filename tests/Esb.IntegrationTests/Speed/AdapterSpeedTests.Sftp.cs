using Esb.IntegrationTests.Sftp;
using Esb.Tests;
using Esb.Tests.Endpoints.Files;
using Renci.SshNet;

namespace Esb.IntegrationTests.Speed;

/// <summary>Files of an SFTP server, beside SSH.NET.</summary>
public sealed partial class AdapterSpeedTests
{
    [TestCase(1), TestCase(8)]
    public async Task Sftp_in(int atOnce, CancellationToken cancellationToken)
    {
        await using var server = await SshServer.StartAsync();

        await CompareAsync(
            "sftp-inbound",
            "SSH.NET: rename, download, delete",
            atOnce,
            Files,
            () => FillAsync(server),
            () => ReadPlainAsync(server, atOnce, cancellationToken),
            async () =>
            {
                var intake = new RecordingIntake();
                var config = SomeSftp.InboundConfig(server) with { MaxConcurrentCalls = atOnce, PoolSize = atOnce };
                await using var endpoint = SomeSftp.Inbound(config, intake);
                await endpoint.StartAsync(cancellationToken);
                while (intake.Messages.Count < Files || Directory.GetFiles(server.At(".esb")).Length > 0)
                    await Task.Delay(5, cancellationToken);
            }
        );
    }

    [TestCase(1), TestCase(8)]
    public async Task Sftp_out(int atOnce, CancellationToken cancellationToken)
    {
        await using var server = await SshServer.StartAsync();

        await CompareAsync(
            "sftp-outbound",
            "SSH.NET: upload, rename",
            atOnce,
            Files,
            () => EmptyAsync(server),
            () => WritePlainAsync(server, atOnce, cancellationToken),
            async () =>
            {
                await using var adapter = SomeSftp.Outbound(SomeSftp.OutboundConfig(server));
                await Task.WhenAll(
                    Enumerable
                        .Range(0, atOnce)
                        .Select(async _ =>
                        {
                            var instance = adapter.CreateInstance();
                            for (var i = 0; i < Files / atOnce; i++)
                                await instance.SendAsync(Some.Message(Body), cancellationToken);
                            ((IDisposable)instance).Dispose();
                        })
                );
            }
        );
    }

    private static SftpClient Client(SshServer server)
    {
        var key = new PrivateKeyFile(new MemoryStream(System.Text.Encoding.UTF8.GetBytes(server.PrivateKey)));
        return new SftpClient("127.0.0.1", server.Port, Environment.UserName, key);
    }

    private static async Task FillAsync(SshServer server)
    {
        await EmptyAsync(server);
        for (var i = 0; i < Files; i++)
            await File.WriteAllTextAsync(server.At($"{i:0000}.xml"), $"{i:0000}{Body[4..]}");
    }

    private static Task EmptyAsync(SshServer server)
    {
        foreach (var file in Directory.GetFiles(server.Files))
            File.Delete(file);
        return Task.CompletedTask;
    }

    // What a careful program does with each file: rename it away, read it, delete it.
    private static async Task ReadPlainAsync(SshServer server, int atOnce, CancellationToken cancellationToken)
    {
        using var lister = Client(server);
        await lister.ConnectAsync(cancellationToken);
        if (!lister.Exists(server.At("work")))
            lister.CreateDirectory(server.At("work"));
        var names = lister.ListDirectory(server.Files).Where(entry => entry.IsRegularFile).Select(entry => entry.Name).ToList();
        await Task.WhenAll(
            names
                .Chunk((names.Count + atOnce - 1) / atOnce)
                .Select(async chunk =>
                {
                    using var client = Client(server);
                    await client.ConnectAsync(cancellationToken);
                    foreach (var name in chunk)
                    {
                        await client.RenameFileAsync(server.At(name), server.At("work", name), cancellationToken);
                        using var target = new MemoryStream();
                        await client.DownloadFileAsync(server.At("work", name), target, cancellationToken);
                        await client.DeleteFileAsync(server.At("work", name), cancellationToken);
                    }
                })
        );
    }

    private static Task WritePlainAsync(SshServer server, int atOnce, CancellationToken cancellationToken) =>
        Task.WhenAll(
            Enumerable
                .Range(0, atOnce)
                .Select(async part =>
                {
                    using var client = Client(server);
                    await client.ConnectAsync(cancellationToken);
                    for (var i = 0; i < Files / atOnce; i++)
                    {
                        using var source = new MemoryStream(System.Text.Encoding.UTF8.GetBytes(Body));
                        await client.UploadFileAsync(source, server.At($".{part}-{i}.part"), cancellationToken);
                        await client.RenameFileAsync(server.At($".{part}-{i}.part"), server.At($"{part}-{i}.xml"), cancellationToken);
                    }
                })
        );
}
