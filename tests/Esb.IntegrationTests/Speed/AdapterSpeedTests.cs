using System.Data;
using System.Diagnostics;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Inbound;
using Esb.IntegrationTests.Sftp;
using Esb.IntegrationTests.Sql;
using Esb.Tests;
using Esb.Tests.Endpoints.Files;
using Esb.Tests.Endpoints.Mail;
using MailKit.Net.Smtp;
using MailKit.Security;
using Microsoft.Extensions.Logging.Abstractions;
using MimeKit;
using Npgsql;
using Renci.SshNet;

namespace Esb.IntegrationTests.Speed;

/// <summary>Adapters beside the plain client library, against the same server in the same run. Prints rates and ratio.</summary>
[Category("Soak"), CancelAfter(600_000)]
public sealed class AdapterSpeedTests
{
    private const int Files = 600;
    private const int Rows = 5_000;
    private const int Rounds = 3;

    private static readonly string Body = new('x', 2048);

    [TestCase(1), TestCase(8)]
    public async Task Sftp_in(int atOnce, CancellationToken cancellationToken)
    {
        await using var server = await SshServer.StartAsync();

        await CompareAsync(
            $"SFTP in, {atOnce} at once, 2 KB",
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
            $"SFTP out, {atOnce} at once, 2 KB",
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

    [Test]
    public async Task Sql_in(CancellationToken cancellationToken)
    {
        await using var shop = await Shop.CreateAsync();
        await shop.ExecuteAsync("create table jobs (id int primary key, note text, taken boolean not null default false)");
        const string query = "select id, note from jobs where not taken order by id limit 200";
        const string after = "update jobs set taken = true where id = @id";

        await CompareAsync(
            "SQL in, 2 KB",
            Rows,
            () =>
                shop.ExecuteAsync(
                    $"truncate jobs; insert into jobs select n, repeat('x', 2048) from generate_series(1, {Rows}) n; analyze jobs"
                ),
            () => TakePlainAsync(shop, query, cancellationToken),
            async () =>
            {
                var config = new SqlInboundConfig
                {
                    Name = "jobs",
                    Connection = "shop",
                    Query = query,
                    After = after,
                    Process = "p",
                };
                var taker = new RowTaker(
                    config,
                    SqlText.Parse(query),
                    SqlText.Parse(after),
                    shop.Open(),
                    null!,
                    new RecordingIntake(),
                    1_000_000,
                    TimeProvider.System,
                    NullLogger<RowTaker>.Instance
                );
                while (await taker.TakeAsync(cancellationToken) > 0) { }
            }
        );
    }

    [TestCase(1), TestCase(8)]
    public async Task Sql_out(int atOnce, CancellationToken cancellationToken)
    {
        await using var shop = await Shop.CreateAsync();
        const string insert = "insert into orders values (gen_random_uuid(), @body)";
        var endpoint = shop.Endpoint(execute: insert);
        await using var source = NpgsqlDataSource.Create(shop.ConnectionString);

        await CompareAsync(
            $"SQL out, {atOnce} at once, 2 KB",
            Rows,
            () => shop.ExecuteAsync("truncate orders"),
            () =>
                SplitAsync(
                    Rows,
                    atOnce,
                    async _ =>
                    {
                        await using var command = source.CreateCommand("insert into orders values (gen_random_uuid(), $1)");
                        command.Parameters.Add(new() { Value = Body });
                        await command.ExecuteNonQueryAsync(cancellationToken);
                    }
                ),
            () => SplitAsync(Rows, atOnce, _ => SendAsync(endpoint, Some.Message($"{{\"body\":\"{Body}\"}}"), cancellationToken))
        );
    }

    [Test]
    public async Task File_in(CancellationToken cancellationToken)
    {
        var folder = Directory.CreateTempSubdirectory("esb-speed-");
        await CompareAsync(
            "file in, 2 KB",
            Files,
            async () =>
            {
                foreach (var file in folder.GetFiles("*", SearchOption.AllDirectories))
                    file.Delete();
                for (var i = 0; i < Files; i++)
                    await File.WriteAllTextAsync(Path.Combine(folder.FullName, $"{i:0000}.xml"), Body, cancellationToken);
            },
            () =>
            {
                var claimed = folder.CreateSubdirectory("claimed").FullName;
                var done = folder.CreateSubdirectory("done").FullName;
                foreach (var file in Directory.GetFiles(folder.FullName))
                {
                    var (name, own) = (Path.GetFileName(file), Path.Combine(claimed, Path.GetFileName(file)));
                    File.Move(file, own);
                    _ = File.ReadAllBytes(own);
                    File.Move(own, Path.Combine(done, name));
                }

                return Task.CompletedTask;
            },
            async () =>
            {
                var intake = new RecordingIntake();
                var config = SomeFiles.InboundConfig(folder.FullName);
                await using var endpoint = SomeFiles.Inbound(config, intake);
                await endpoint.StartAsync(cancellationToken);
                while (intake.Messages.Count < Files)
                    await Task.Delay(1, cancellationToken);
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
            $"file out, {atOnce} at once, 2 KB",
            Files,
            () =>
            {
                foreach (var file in folder.GetFiles())
                    file.Delete();
                return Task.CompletedTask;
            },
            () =>
                SplitAsync(
                    Files,
                    atOnce,
                    async i =>
                    {
                        var part = Path.Combine(folder.FullName, $"{i}.part");
                        await using (var file = File.Create(part))
                        {
                            await file.WriteAsync(System.Text.Encoding.UTF8.GetBytes(Body), cancellationToken);
                            file.Flush(flushToDisk: true);
                        }

                        File.Move(part, Path.Combine(folder.FullName, $"{i}.xml"));
                    }
                ),
            () => SplitAsync(Files, atOnce, _ => SendAsync(adapter.CreateInstance(), Some.Message(Body), cancellationToken))
        );
        folder.Delete(recursive: true);
    }

    [TestCase(1), TestCase(8)]
    public async Task Mail_out(int atOnce, CancellationToken cancellationToken)
    {
        await using var server = new MailServer();
        await using var adapter = SomeMail.Create(SomeMail.Config(server.Port));
        var (clients, instances) = (new List<SmtpClient>(), new List<IOutboundEndpoint>());
        for (var i = 0; i < atOnce; i++)
        {
            clients.Add(new SmtpClient());
            await clients[i].ConnectAsync("127.0.0.1", server.Port, SecureSocketOptions.None, cancellationToken);
            instances.Add(adapter.CreateInstance());
        }

        await CompareAsync(
            $"mail out, {atOnce} at once, 2 KB",
            Files,
            () => Task.CompletedTask,
            () =>
                Task.WhenAll(
                    clients.Select(async client =>
                    {
                        for (var i = 0; i < Files / atOnce; i++)
                            await client.SendAsync(SomeMessage(), cancellationToken);
                    })
                ),
            () =>
                Task.WhenAll(
                    instances.Select(async instance =>
                    {
                        for (var i = 0; i < Files / atOnce; i++)
                            await instance.SendAsync(Some.Message(Body), cancellationToken);
                    })
                )
        );
        clients.ForEach(client => client.Dispose());
        foreach (var instance in instances.OfType<IDisposable>())
            instance.Dispose();
    }

    private static MimeMessage SomeMessage()
    {
        var message = new MimeMessage
        {
            Subject = "Order",
            Body = new TextPart("plain") { Text = Body },
        };
        message.From.Add(MailboxAddress.Parse("shop@example.com"));
        message.To.Add(MailboxAddress.Parse("a@example.com"));
        return message;
    }

    private static async Task SendAsync(IOutboundEndpoint instance, EsbMessage message, CancellationToken cancellationToken) =>
        await instance.SendAsync(message, cancellationToken);

    private static Task SplitAsync(int count, int atOnce, Func<int, Task> work) =>
        Task.WhenAll(
            Enumerable
                .Range(0, atOnce)
                .Select(async part =>
                {
                    for (var i = part; i < count; i += atOnce)
                        await work(i);
                })
        );

    // Alternating, so that both meet the same state of the machine; the best round of each counts.
    private static async Task CompareAsync(string what, int count, Func<Task> prepare, Func<Task> plain, Func<Task> ours)
    {
        var best = new[] { TimeSpan.MaxValue, TimeSpan.MaxValue };
        for (var round = 0; round < Rounds; round++)
        {
            foreach (var (index, work) in new[] { (0, plain), (1, ours) })
            {
                await prepare();
                var started = Stopwatch.GetTimestamp();
                await work();
                var taken = Stopwatch.GetElapsedTime(started);
                if (taken < best[index])
                    best[index] = taken;
            }
        }

        var (client, adapter) = (count / best[0].TotalSeconds, count / best[1].TotalSeconds);
        await TestContext.Out.WriteLineAsync($"{what}: {adapter:0}/s, plain client {client:0}/s, ratio {adapter / client:0.00}");
        Assert.That(adapter, Is.GreaterThan(0));
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

    private static async Task TakePlainAsync(Shop shop, string query, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(shop.ConnectionString);
        while (true)
        {
            await using var connection = await source.OpenConnectionAsync(cancellationToken);
            await using var transaction = await connection.BeginTransactionAsync(IsolationLevel.ReadCommitted, cancellationToken);
            var ids = new List<int>();
            await using (var command = new NpgsqlCommand(query, connection))
            await using (var reader = await command.ExecuteReaderAsync(cancellationToken))
            {
                while (await reader.ReadAsync(cancellationToken))
                {
                    ids.Add(reader.GetInt32(0));
                    _ = reader.GetString(1);
                }
            }

            if (ids.Count == 0)
                return;
            await using var batch = new NpgsqlBatch(connection);
            foreach (var id in ids)
                batch.BatchCommands.Add(
                    new NpgsqlBatchCommand("update jobs set taken = true where id = $1") { Parameters = { new() { Value = id } } }
                );
            await batch.ExecuteNonQueryAsync(cancellationToken);
            await transaction.CommitAsync(cancellationToken);
        }
    }
}
