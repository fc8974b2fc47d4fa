using System.IO.Compression;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using Esb.Core.Audit;
using static Esb.Tests.Endpoints.Http.Receiving.HttpInboundTests;

namespace Esb.Tests.Endpoints.Http;

/// <summary>Bodies that are packed, and those that are encoded otherwise than they say.</summary>
[CancelAfter(30_000)]
public sealed class DecodingTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public async Task StartBus() =>
        _bus = await new HttpBus().StartAsync(
            """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "maxBodySize": "1MiB", "headers": ["*"] } """
        );

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [TestCase("gzip", 0), TestCase("x-gzip", 10), TestCase("GZIP", 1024 * 1024)]
    public async Task Packed_body_becomes_a_message_unpacked(string encoding, int length, CancellationToken cancellationToken)
    {
        var body = RandomNumberGenerator.GetHexString(length);

        using var response = await PostAsync(Pack(Encoding.UTF8.GetBytes(body)), encoding, cancellationToken: cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(Encoding.UTF8.GetString(_bus.Published.Single().Body.Bytes.Span), Is.EqualTo(body));
        Assert.That(_bus.Published.Single().Headers["Content-Encoding"], Is.Null, "the body is not packed any more");
    }

    [Test, Property("Case", "HTP-12")]
    public async Task Body_that_unpacks_without_end_is_refused_at_the_limit(CancellationToken cancellationToken)
    {
        var bomb = Pack(new byte[256 * 1024 * 1024]);
        Assert.That(bomb, Has.Length.LessThan(1024 * 1024));
        var before = GC.GetTotalAllocatedBytes(precise: true);

        using var response = await PostAsync(bomb, "gzip", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.RequestEntityTooLarge, "ESB-BODY-SIZE", cancellationToken);
        Assert.That(GC.GetTotalAllocatedBytes(precise: true) - before, Is.LessThan(32 * 1024 * 1024), "no more than the limit is unpacked");
        Assert.That(_bus.Published, Is.Empty);
    }

    [TestCase("br"), TestCase("deflate"), TestCase("gzip, gzip"), TestCase("nonsense"), Property("Case", "HTP-12")]
    public async Task Encoding_that_is_not_known_is_told_the_one_that_is(string encoding, CancellationToken cancellationToken)
    {
        using var response = await PostAsync([1, 2, 3], encoding, cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.UnsupportedMediaType, "ESB-HTTP-ENCODING", cancellationToken);
        Assert.That(response.Headers.GetValues("Accept-Encoding"), Is.EqualTo(new[] { "gzip" }));
    }

    [TestCase(-1), TestCase(-4), TestCase(-8), TestCase(-9), TestCase(10), TestCase(5), TestCase(1), Property("Case", "HTP-13")]
    public async Task Body_that_was_cut_off_is_refused(int end, CancellationToken cancellationToken)
    {
        var packed = Pack(RandomNumberGenerator.GetBytes(100_000));

        using var response = await PostAsync(end > 0 ? packed[..end] : packed[..^-end], "gzip", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.BadRequest, "ESB-HTTP-DECODE", cancellationToken);
        Assert.That(_bus.Published, Is.Empty);
        Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Refused }));
    }

    [TestCase(-1), TestCase(-6), TestCase(0), TestCase(5000), Property("Case", "HTP-13")]
    public async Task Body_with_a_wrong_bit_is_refused(int place, CancellationToken cancellationToken)
    {
        var packed = Pack(RandomNumberGenerator.GetBytes(100_000));
        packed[place < 0 ? packed.Length + place : place] ^= 1;

        using var response = await PostAsync(packed, "gzip", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.BadRequest, "ESB-HTTP-DECODE", cancellationToken);
        Assert.That(_bus.Published, Is.Empty);
    }

    [TestCase("text/plain; charset=utf-99", "x", "utf-99")]
    [TestCase("text/plain; charset=utf-7", "x", "utf-7")]
    [TestCase("application/xml; charset=\"utf-99\"", "<a/>", "utf-99")]
    [TestCase("application/xml; charset=utf-8", "<?xml version='1.0' encoding='ISO-8859-1'?><a/>", "utf-8", "ISO-8859-1")]
    [TestCase("application/soap+xml; charset=us-ascii", "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a/>", "us-ascii", "UTF-16")]
    [Property("Case", "HTP-11")]
    public async Task Charset_that_is_none_or_another_one_is_refused(string contentType, string body, params string[] told)
    {
        using var response = await PostAsync(Encoding.UTF8.GetBytes(body), null, contentType, CancellationToken.None);

        await AssertProblemAsync(response, HttpStatusCode.BadRequest, "ESB-HTTP-CHARSET", CancellationToken.None);
        var detail = await response.Content.ReadAsStringAsync();
        foreach (var name in told)
            Assert.That(detail, Does.Contain(name));
        Assert.That(_bus.Published, Is.Empty);
    }

    [
        TestCase("application/xml; charset=UTF8", "<?xml version='1.0' encoding='utf-8'?><a/>"),
        TestCase("application/xml", "<?xml version='1.0' encoding='ISO-8859-1'?><a/>"),
        TestCase("text/plain; charset=windows-1252", "x")
    ]
    [
        TestCase("application/xml; charset=latin1", "<?xml version='1.0' encoding='ISO-8859-1'?><a/>"),
        TestCase("application/json; charset=utf-8", "<?xml version='1.0' encoding='ISO-8859-1'?><a/>")
    ]
    public async Task Charset_that_the_body_agrees_with_is_taken(string contentType, string body)
    {
        using var response = await PostAsync(Encoding.UTF8.GetBytes(body), null, contentType, CancellationToken.None);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
    }

    [TestCase(""), TestCase(""", "headers": ["x-*"] """)]
    public async Task Relay_passes_a_packed_body_as_it_is(string headers, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context =>
        {
            context.Response.Headers.ContentEncoding = context.Request.Headers.ContentEncoding;
            context.Request.Body.Position = 0;
            return context.Request.Body.CopyToAsync(context.Response.Body, CancellationToken.None);
        });
        await using var bus = await new HttpBus().StartAsync(
            $$""" "in": { "type": "http-inbound", "path": "/in", "relay": "out" {{headers}} }, "out": { "type": "http-outbound", "url": "{{backend.Url}}" {{headers}} } """
        );
        var packed = Pack(RandomNumberGenerator.GetBytes(1000))[..^3];
        using var content = new ByteArrayContent(packed) { Headers = { ContentEncoding = { "gzip" } } };

        using var response = await bus.Client.PostAsync("/in", content, cancellationToken);

        Assert.That(await response.Content.ReadAsByteArrayAsync(cancellationToken), Is.EqualTo(packed));
        Assert.That(backend.Requests.Single(), Does.Contain("Content-Encoding: gzip"));
        Assert.That(response.Content.Headers.ContentEncoding, Is.EqualTo(new[] { "gzip" }));
    }

    private async Task<HttpResponseMessage> PostAsync(
        byte[] body,
        string? encoding,
        string contentType = "text/plain",
        CancellationToken cancellationToken = default
    )
    {
        using var content = new ByteArrayContent(body);
        content.Headers.TryAddWithoutValidation("Content-Type", contentType);
        if (encoding is not null)
            content.Headers.TryAddWithoutValidation("Content-Encoding", encoding);
        return await _bus.Client.PostAsync("/orders", content, cancellationToken);
    }

    private static byte[] Pack(byte[] body)
    {
        using var packed = new MemoryStream();
        using (var gzip = new GZipStream(packed, CompressionLevel.SmallestSize))
            gzip.Write(body);
        return packed.ToArray();
    }
}
