using System.IO.Compression;
using System.Security.Cryptography;
using System.Text;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Endpoints.Http.Sending;

/// <summary>Answers to messages that come packed: a message's body never is.</summary>
[CancelAfter(30_000)]
public sealed class PackedAnswerTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [
        TestCase("gzip", 10),
        TestCase("GZIP", 1000),
        TestCase("deflate", 1000),
        TestCase("br", 1000),
        TestCase("identity", 1000),
        TestCase("gzip", 0)
    ]
    public async Task Packed_answer_becomes_a_message_unpacked(string coding, int length, CancellationToken cancellationToken)
    {
        var text = $$"""{ "text": "{{RandomNumberGenerator.GetHexString(length)}}" }""";

        var answer = await AskAsync(coding, Pack(coding, Encoding.UTF8.GetBytes(text)), cancellationToken);

        Assert.That((answer.Body.ReadText(), answer.ContentType), Is.EqualTo((text, "application/json")));
        Assert.That(answer.Headers["Content-Encoding"], Is.Null, "the body is not packed any more");
    }

    [Test]
    public async Task Answer_without_a_body_may_say_that_it_is_packed(
        [Values("gzip", "br", "zstd")] string coding,
        CancellationToken cancellationToken
    )
    {
        var answer = await AskAsync(coding, [], cancellationToken);

        Assert.That(answer.Body.Length, Is.Zero);
    }

    [Test]
    public void Answer_that_unpacks_without_end_is_a_failure_at_the_limit(
        [Values("gzip", "br")] string coding,
        CancellationToken cancellationToken
    )
    {
        var bomb = Pack(coding, new byte[64 * 1024 * 1024]);
        var before = GC.GetTotalAllocatedBytes(precise: true);

        var failure = Assert.ThrowsAsync<EndpointException>(() => AskAsync(coding, bomb, cancellationToken));

        Assert.That(bomb, Has.Length.LessThan(1024 * 1024));
        Assert.That((failure!.Code, failure.IsTransient), Is.EqualTo(("ESB-HTTP-ANSWERSIZE", false)));
        Assert.That(GC.GetTotalAllocatedBytes(precise: true) - before, Is.LessThan(32 * 1024 * 1024), "no more than the limit is unpacked");
    }

    [
        TestCase("gzip", "ESB-HTTP-DECODE"),
        TestCase("deflate", "ESB-HTTP-DECODE"),
        TestCase("br", "ESB-HTTP-DECODE"),
        TestCase("zstd", "ESB-HTTP-ENCODING"),
        TestCase("zstd, gzip", "ESB-HTTP-ENCODING")
    ]
    public void Answer_that_cannot_be_unpacked_is_a_failure_of_the_outside(string coding, string code, CancellationToken cancellationToken)
    {
        var body = coding.Contains("zstd", StringComparison.Ordinal)
            ? Pack(coding, "packed in a way of its own"u8.ToArray())
            : "this is not packed, whatever it says"u8.ToArray();

        var failure = Assert.ThrowsAsync<EndpointException>(() => AskAsync(coding, body, cancellationToken));

        Assert.That((failure!.Code, failure.Kind, failure.IsTransient), Is.EqualTo((code, FaultKind.Outside, false)));
    }

    [Test]
    public async Task What_the_sender_of_a_message_can_unpack_is_not_told_to_the_outside(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        _bus.Read($$""" "backend": { "type": "http-outbound", "url": "{{backend.Url}}", "headers": ["*"] } """);

        await OutboundEndpoints
            .Create(_bus, "backend")
            .CreateInstance()
            .SendAsync(Some.Message() with { Headers = MessageHeaders.Empty.With("Accept-Encoding", "zstd") }, cancellationToken);

        Assert.That(backend.Requests.Single(), Does.Contain("Accept-Encoding: gzip, deflate, br").And.Not.Contain("zstd"));
    }

    private async Task<EsbMessage> AskAsync(string coding, byte[] body, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context =>
        {
            context.Response.ContentType = "application/json";
            context.Response.Headers.ContentEncoding = coding;
            context.Response.ContentLength = body.Length;
            return context.Response.Body.WriteAsync(body, CancellationToken.None).AsTask();
        });
        _bus.Read($$""" "backend": { "type": "http-outbound", "url": "{{backend.Url}}", "headers": ["*"], "maxBodySize": "1MiB" } """);
        return (await OutboundEndpoints.Create(_bus, "backend").CreateInstance().SendAsync(Some.Message(""), cancellationToken))!;
    }

    private static byte[] Pack(string coding, byte[] body)
    {
        using var packed = new MemoryStream();
        using (var packing = PackingTo(packed, coding))
            packing?.Write(body);
        return packed.ToArray() is { Length: > 0 } made ? made : body; // which can be had behind its end, too
    }

    private static Stream? PackingTo(Stream target, string coding) =>
        coding.ToUpperInvariant() switch
        {
            "BR" => new BrotliStream(target, CompressionLevel.Fastest),
            "DEFLATE" => new ZLibStream(target, CompressionLevel.Fastest),
            "GZIP" or "ZSTD, GZIP" => new GZipStream(target, CompressionLevel.SmallestSize),
            _ => null,
        };
}
