using System.Net;
using System.Net.Sockets;
using Esb.Core.Messages;
using Esb.Endpoints.Files;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.Tests;
using Esb.Tests.Fakes;

namespace Esb.IntegrationTests.Sftp;

/// <summary>Writing to a real OpenSSH server.</summary>
[CancelAfter(60_000)]
public sealed class SftpOutboundTests
{
    private SshServer _server = null!;

    [SetUp]
    public async Task StartServer() => _server = await SshServer.StartAsync();

    [TearDown]
    public async Task StopServer() => await _server.DisposeAsync();

    [TestCase(FileExistsRule.Fail, "ESB-FILE-EXISTS", 1, "old")]
    [TestCase(FileExistsRule.Replace, null, 1, "new")]
    [TestCase(FileExistsRule.Unique, null, 2, "old")]
    public async Task File_that_exists_is_treated_as_configured(
        FileExistsRule rule,
        string? code,
        int files,
        string content,
        CancellationToken cancellationToken
    )
    {
        await _server.PutAsync("order.xml", "old", cancellationToken);
        await using var adapter = SomeSftp.Outbound(SomeSftp.OutboundConfig(_server, "order.xml") with { IfExists = rule });

        var failure = await adapter.TryAsync(Some.Message("new"), cancellationToken);

        Assert.That(
            (failure?.Code, Names().Count, await File.ReadAllTextAsync(_server.At("order.xml"), cancellationToken)),
            Is.EqualTo((code, files, content))
        );
    }

    [Test]
    public async Task Wrong_host_key_sends_nothing_and_pauses_the_endpoint(CancellationToken cancellationToken)
    {
        await using var adapter = SomeSftp.Outbound(SomeSftp.OutboundConfig(_server) with { HostKey = ["SHA256:" + new string('A', 43)] });

        var failure = (await adapter.TryAsync(Some.Message(), cancellationToken))!;

        Assert.That((failure.Code, failure.IsOutage, Names().Count), Is.EqualTo(("ESB-SFTP-HOSTKEY", true, 0)));
        Assert.That(
            failure.Detail,
            Does.Contain(_server.HostKey).And.Contain(_server.SecondHostKey),
            "for the operator, who compares them"
        );
    }

    [Test]
    public async Task Server_with_several_keys_is_trusted_by_any_of_them(CancellationToken cancellationToken)
    {
        foreach (var key in new[] { _server.HostKey, _server.SecondHostKey })
        {
            await using var adapter = SomeSftp.Outbound(SomeSftp.OutboundConfig(_server) with { HostKey = [key] });

            Assert.That(await adapter.TryAsync(Some.Message(), cancellationToken), Is.Null);
        }
    }

    [Test]
    public async Task Refused_user_is_tried_once_a_minute_and_works_once_corrected(CancellationToken cancellationToken)
    {
        var time = new ManualTime();
        await using var adapter = SomeSftp.Outbound(SomeSftp.OutboundConfig(_server), time);
        _server.LetIn(false);

        var refused = await adapter.TryAsync(Some.Message(), cancellationToken);
        _server.LetIn(true);
        var tooSoon = await adapter.TryAsync(Some.Message(), cancellationToken);
        time.Advance(TimeSpan.FromMinutes(1));
        var corrected = await adapter.TryAsync(Some.Message(), cancellationToken);

        Assert.That(
            (refused!.Code, refused.IsOutage, tooSoon!.Code, corrected),
            Is.EqualTo(("ESB-SFTP-AUTH", true, "ESB-SFTP-AUTH", default(Core.Errors.EndpointException)))
        );
    }

    [Test]
    public async Task Silent_server_is_an_outage_in_time(CancellationToken cancellationToken)
    {
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start(); // accepts in its backlog and says nothing
        await using var adapter = SomeSftp.Outbound(
            SomeSftp.OutboundConfig(_server) with
            {
                Url = $"sftp://esb@{silent.LocalEndpoint}/in",
                Timeout = TimeSpan.FromSeconds(1),
            }
        );

        var failure = (await adapter.TryAsync(Some.Message(), cancellationToken))!;

        Assert.That((failure.Code, failure.IsOutage), Is.EqualTo(("ESB-SFTP-UNREACHABLE", true)));
    }

    [TestCase("../up.xml"), TestCase("/etc/x"), TestCase("a\\b"), TestCase("a\nb"), TestCase(".."), TestCase("nul")]
    [
        Property("Case", "FIL-01"),
        Property("Case", "FIL-02"),
        Property("Case", "FIL-03"),
        Property("Case", "FIL-04"),
        Property("Case", "FIL-05"),
        Property("Case", "FIL-07")
    ]
    public async Task Hostile_name_of_a_message_writes_nothing(string name, CancellationToken cancellationToken)
    {
        await using var adapter = SomeSftp.Outbound(SomeSftp.OutboundConfig(_server, "{header.x-name}"));

        var failure = await adapter.TryAsync(
            Some.Message() with
            {
                Headers = MessageHeaders.Empty.With("x-name", name),
            },
            cancellationToken
        );

        Assert.That((failure!.Code, failure.IsUnsent, Names().Count), Is.EqualTo(("ESB-FILE-NAME", true, 0)));
    }

    [
        TestCase(FileExistsRule.Fail, true),
        TestCase(FileExistsRule.Replace, true),
        TestCase(FileExistsRule.Fail, false),
        TestCase(FileExistsRule.Replace, false)
    ]
    [Property("Case", "FIL-10")]
    public async Task Link_under_the_name_is_not_followed(FileExistsRule rule, bool isThere, CancellationToken cancellationToken)
    {
        var target = Path.Combine(Path.GetDirectoryName(_server.Files)!, "elsewhere");
        if (isThere)
            await File.WriteAllTextAsync(target, "safe", cancellationToken);
        File.CreateSymbolicLink(_server.At("order.xml"), target);
        await using var adapter = SomeSftp.Outbound(SomeSftp.OutboundConfig(_server, "order.xml") with { IfExists = rule });

        var failure = await adapter.TryAsync(Some.Message("new"), cancellationToken);

        Assert.That(
            (failure!.Code, File.Exists(target) ? await File.ReadAllTextAsync(target, cancellationToken) : null),
            Is.EqualTo(("ESB-FILE-LINK", isThere ? "safe" : null))
        );
    }

    [Test]
    public async Task Part_that_a_dead_host_left_is_no_obstacle(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(_server.At(".order.xml.part"), "half", cancellationToken);
        await using var adapter = SomeSftp.Outbound(SomeSftp.OutboundConfig(_server, "order.xml"));

        var failure = await adapter.TryAsync(Some.Message("whole"), cancellationToken);

        Assert.That(
            (failure, await File.ReadAllTextAsync(_server.At("order.xml"), cancellationToken)),
            Is.EqualTo((default(Core.Errors.EndpointException), "whole"))
        );
    }

    [Test, Property("Case", "FIL-15")]
    public async Task Full_disk_of_the_server_leaves_no_file_and_the_message_goes_once_there_is_space(CancellationToken cancellationToken)
    {
        await using var volume = await SmallVolume.MountAsync(_server.Files, megabytes: 2);
        await using var adapter = SomeSftp.Outbound(SomeSftp.OutboundConfig(_server, "order.xml"));
        Core.Errors.EndpointException? failure;
        List<string> left;

        await using (await volume.FillAsync())
        {
            failure = await adapter.TryAsync(Some.Message("<order/>"), cancellationToken);
            left = Names();
        }

        var sent = await adapter.TryAsync(Some.Message("<order/>"), cancellationToken);
        Assert.That((failure!.Code, failure.IsTransient, left.Single()), Is.EqualTo(("ESB-SFTP-FAILED", true, "ballast")));
        Assert.That((sent, Names().Single()), Is.EqualTo((default(Core.Errors.EndpointException), "order.xml")));
        Assert.That(await File.ReadAllTextAsync(_server.At("order.xml"), cancellationToken), Is.EqualTo("<order/>"));
    }

    [Test]
    public async Task Missing_folder_is_an_outage_and_is_not_made(CancellationToken cancellationToken)
    {
        await using var adapter = SomeSftp.Outbound(SomeSftp.OutboundConfig(_server) with { Url = $"{_server.Url}/missing" });

        var failure = await adapter.TryAsync(Some.Message(), cancellationToken);

        Assert.That(
            (failure!.Code, failure.IsOutage, Directory.Exists(_server.At("missing"))),
            Is.EqualTo(("ESB-SFTP-FOLDER", true, false))
        );
    }

    [Test]
    public async Task Instance_goes_on_after_the_server_was_killed(CancellationToken cancellationToken)
    {
        await using var adapter = SomeSftp.Outbound(SomeSftp.OutboundConfig(_server));
        var instance = adapter.CreateInstance();
        await instance.SendAsync(Some.Message("1"), cancellationToken);
        await _server.KillAsync();
        Assert.That(
            async () => await instance.SendAsync(Some.Message("2"), cancellationToken),
            Throws.InstanceOf<Core.Errors.EndpointException>()
        );
        await _server.StartAgainAsync();

        await instance.SendAsync(Some.Message("3"), cancellationToken);

        Assert.That(Names(), Has.Count.EqualTo(2));
        ((IDisposable)instance).Dispose();
    }

    [Test]
    public async Task Password_is_accepted_where_the_user_has_one(CancellationToken cancellationToken)
    {
        await using var server = await SshServer.StartAsync("PasswordAuthentication yes");
        await using var user = await SshUser.CreateAsync(server);
        var config = SomeSftp.OutboundConfig(server) with { Url = $"{user.Url}/~/", PrivateKey = null };
        await using var right = SomeSftp.Outbound(config with { Password = SshUser.Password });
        await using var wrong = SomeSftp.Outbound(config with { Password = "other" });

        var refused = await wrong.TryAsync(Some.Message(), cancellationToken);
        var sent = await right.TryAsync(Some.Message(), cancellationToken);

        Assert.That(
            (refused!.Code, sent, Directory.GetFiles(server.Files).Length),
            Is.EqualTo(("ESB-SFTP-AUTH", default(Core.Errors.EndpointException), 1))
        );
    }

    private List<string> Names() => [.. Directory.GetFiles(_server.Files).Select(file => Path.GetFileName(file)!)];
}
