using Esb.Tests.Host.Management;

namespace Esb.Tests.Host.Commands;

/// <summary>A file is sent to a topic of a running host.</summary>
[CancelAfter(30_000)]
public sealed class SendCommandTests : CommandLineFixture
{
    [Test]
    public async Task Bulk_send_publishes_every_message(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);
        var file = Path.Combine(Folder, "order.xml");
        await File.WriteAllTextAsync(file, "<order/>", cancellationToken);

        var exitCode = await AskAsync(host, "send", "orders.new", "--file", file, "--count", "701", "--batch", "300", "--delay", "1ms");

        Assert.That(exitCode, Is.Zero, Error);
        Assert.That(host.Publisher.Published, Has.Count.EqualTo(701));
        Assert.That(host.Publisher.Published[700].Message.ContentType, Is.EqualTo("application/xml"));
        Assert.That(Output, Does.Match(@"^701 messages sent to orders\.new in [0-9.]+ s \([0-9]+/s\); not durable"));
    }

    [Test]
    public async Task Send_to_no_topic_fails_with_the_code_of_the_host(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);
        var file = Write("{}");

        Assert.That(await AskAsync(host, "send", "ordres.new", "--file", file), Is.EqualTo(2));
        Assert.That(Error, Does.Contain("ESB-API-NOTFOUND").And.Contains("did you mean \"orders\"?"));
    }

    [TestCase("nowhere.xml", "there is no such file"), TestCase("nowhere/at/all.xml", "there is no such file"), TestCase("", "is denied")]
    public async Task Send_of_a_file_that_cannot_be_read_sends_nothing(string file, string reason)
    {
        await using var host = await RunningManagement.StartAsync(default);

        Assert.That(await AskAsync(host, "send", "orders.new", "--file", Path.Combine(Folder, file)), Is.EqualTo(2));
        Assert.That(Error, Does.StartWith("ESB-CLI-FILE").And.Contains(reason));
        Assert.That(host.Publisher.Published, Is.Empty);
    }

    [TestCase(1_025), TestCase(5_000_000)]
    public async Task Send_of_more_than_a_message_may_hold_names_the_limit(int length)
    {
        await using var host = await RunningManagement.StartAsync(default);
        var file = Path.Combine(Folder, "large.bin");
        await File.WriteAllBytesAsync(file, new byte[length]);

        Assert.That(await AskAsync(host, "send", "orders.new", "--file", file), Is.EqualTo(2));
        Assert.That(
            Error,
            Is.EqualTo($"ESB-BODY-SIZE The body is larger than 1024 bytes, the limits.maxBodySize of the host.{Environment.NewLine}")
        );
    }
}
