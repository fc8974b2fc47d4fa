using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Endpoints.Http.Sending;

/// <summary>Headers of answers to a call, which become headers of a message.</summary>
[CancelAfter(30_000)]
public sealed class HttpAnswerHeaderTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [
        TestCase("Esb-Key"),
        TestCase("esb-attempt"),
        TestCase("ESB-Fault"),
        TestCase("Esb-Status"),
        TestCase("MT-Fault-Address"),
        TestCase("mt-response-address"),
        TestCase("CC"),
        TestCase("bcc"),
        TestCase("X-Death"),
        TestCase("x-first-death-queue"),
        TestCase("x-delivery-count")
    ]
    [Property("Case", "HDR-01"), Property("Case", "HDR-02"), Property("Case", "HDR-03")]
    public async Task Reserved_header_is_dropped_whatever_the_list_allows(string name, CancellationToken cancellationToken)
    {
        var answer = await AskAsync($"{name}: 500\r\nX-Other: 1\r\n", cancellationToken);

        Assert.That(
            answer.Headers,
            Is.EquivalentTo(new[] { KeyValuePair.Create("X-Other", "1"), KeyValuePair.Create(EsbHeaders.Status, "200") })
        );
        Assert.That((answer.Key, answer.Attempt), Is.EqualTo(((string?)null, 0)));
    }

    [
        TestCase("Content-Disposition", "attachment; filename=\"order.pdf\""),
        TestCase("Content-Language", "de"),
        TestCase("Last-Modified", "Sat, 21 Nov 2026 10:00:00 GMT"),
        TestCase("Expires", "0"),
        TestCase("Allow", "GET, PUT")
    ]
    public async Task Header_that_tells_of_what_the_body_is_enters(string name, string value, CancellationToken cancellationToken)
    {
        var answer = await AskAsync($"{name}: {value}\r\nContent-Type: text/plain\r\n", cancellationToken);

        Assert.That(
            answer.Headers,
            Is.EquivalentTo(new[] { KeyValuePair.Create(name, value), KeyValuePair.Create(EsbHeaders.Status, "200") }),
            "and neither length nor type"
        );
    }

    [Test, Property("Case", "HDR-05")]
    public async Task Header_with_a_name_that_is_too_long_is_dropped(CancellationToken cancellationToken)
    {
        var answer = await AskAsync($"X-{new string('n', 300)}: 1\r\nX-Other: 1\r\n", cancellationToken);

        Assert.That(answer.Headers.Select(header => header.Key), Is.EquivalentTo(new[] { "X-Other", EsbHeaders.Status }));
    }

    [
        TestCase("X A: one"),
        TestCase("X-Gr\u00f6\u00dfe: one"),
        TestCase("X-A\0: one"),
        TestCase(": one"),
        TestCase("X-A : one"),
        Property("Case", "HDR-05")
    ]
    public async Task Header_with_a_name_that_is_none_enters_under_no_name(string line, CancellationToken cancellationToken)
    {
        var headers = await HeadersOrNoneAsync($"{line}\r\nX-Other: 1\r\n", cancellationToken);

        Assert.That(headers.Select(header => header.Key), Has.All.Matches<string>(HeaderRules.IsName));
        Assert.That(headers.Select(header => header.Value), Has.All.Matches<string>(HeaderRules.IsValue));
    }

    [
        TestCase("X-A: one\rX-Evil: two"),
        TestCase("X-A: one\0two"),
        TestCase("X-A: one\u0001two"),
        TestCase("X-A: one\r\n two"),
        TestCase("Content-Type: text/plain\u0001"),
        TestCase("Content-Type: text/plain\rX-Evil: two"),
        TestCase("Retry-After: 1\rX-Evil: two"),
        Property("Case", "HDR-06")
    ]
    public async Task Value_of_more_than_one_line_does_not_enter(string line, CancellationToken cancellationToken)
    {
        var headers = await HeadersOrNoneAsync($"{line}\r\nX-Other: 1\r\n", cancellationToken);

        Assert.That(headers.Select(header => header.Key), Has.None.EqualTo("X-Evil"));
        Assert.That(headers.Select(header => header.Value), Has.All.Matches<string>(HeaderRules.IsValue));
    }

    // With the content type; none where the answer is no answer.
    private async Task<IReadOnlyList<KeyValuePair<string, string>>> HeadersOrNoneAsync(string fields, CancellationToken cancellationToken)
    {
        try
        {
            var answer = await AskAsync(fields, cancellationToken);
            return [.. answer.Headers, KeyValuePair.Create("Content-Type", answer.ContentType ?? "")];
        }
        catch (EndpointException ex)
        {
            Assert.That(ex.Kind, Is.EqualTo(FaultKind.Outside));
            return [];
        }
    }

    private async Task<EsbMessage> AskAsync(string fields, CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering($"HTTP/1.1 200 OK\r\n{fields}Content-Length: 2\r\n\r\nok");
        _bus.Read($$""" "backend": { "type": "http-outbound", "url": "{{backend.Url}}", "headers": ["*"] } """);
        return (await OutboundEndpoints.Create(_bus, "backend").CreateInstance().SendAsync(Some.Message(""), cancellationToken))!;
    }
}
