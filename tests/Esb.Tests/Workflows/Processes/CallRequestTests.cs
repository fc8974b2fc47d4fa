using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

/// <summary>What the step <c>call</c> sends besides the message, what it expects, and what it keeps.</summary>
public sealed class CallRequestTests
{
    private CompiledProcesses? _processes;
    private EsbMessage? _sent;
    private (string Body, int Status, KeyValuePair<string, string>[] Headers) _answer = ("", 200, []);

    [SetUp]
    public void Forget() => (_sent, _answer) = (null, ("", 200, []));

    [TearDown]
    public void DisposeProcesses() => _processes?.Dispose();

    [
        TestCase("42", "/customers/42/orders"),
        TestCase("../admin", "/customers/..%2Fadmin/orders"),
        TestCase("%2F", "/customers/%252F/orders"),
        TestCase("a\r\nHost: x", "/customers/a%0D%0AHost%3A%20x/orders")
    ]
    [
        TestCase("?x=1#y", "/customers/%3Fx%3D1%23y/orders"),
        TestCase("...", "/customers/.../orders"),
        TestCase("ä €", "/customers/%C3%A4%20%E2%82%AC/orders"),
        TestCase(@"..\", "/customers/..%5C/orders")
    ]
    [CancelAfter(30_000)]
    public async Task Place_of_a_path_is_one_segment(string value, string expected, CancellationToken cancellationToken)
    {
        Compile(""" "path": "/customers/{property.id}/orders" """);

        await RunAsync(cancellationToken, ("id", value));

        Assert.That(_sent!.Request!.Path, Is.EqualTo(expected));
    }

    [
        TestCase("/customers/{property.id}", null),
        TestCase("/customers/{property.id}", ""),
        TestCase("/customers/{property.id}", "."),
        TestCase("/customers/{property.id}", ".."),
        TestCase("/c/x-{property.id}", "..")
    ]
    [CancelAfter(30_000)]
    public void Value_that_is_no_segment_is_refused_and_nothing_is_sent(string path, string? value, CancellationToken cancellationToken)
    {
        Compile($""" "path": "{path}" """);

        var failure = Assert.ThrowsAsync<EsbException>(() => RunAsync(cancellationToken, ("id", value)));

        Assert.That((failure.Code, failure.Kind, _sent), Is.EqualTo(("ESB-HTTP-PATH", FaultKind.Invalid, (EsbMessage?)null)));
        Assert.That(failure.Message, Does.Contain("'backend'").And.Contain("{property.id}"));
    }

    [Test, CancelAfter(30_000)]
    public void Value_that_is_no_valid_text_is_refused(CancellationToken cancellationToken)
    {
        Compile(""" "path": "/{property.id}" """);

        var failure = Assert.ThrowsAsync<EsbException>(() => RunAsync(cancellationToken, ("id", "a\uD800")));

        Assert.That((failure.Code, _sent), Is.EqualTo(("ESB-HTTP-PATH", (EsbMessage?)null)));
    }

    [Test, CancelAfter(30_000)]
    public void Values_that_are_no_segment_together_are_refused(CancellationToken cancellationToken)
    {
        Compile(""" "path": "/files/.{property.a}" """);

        Assert.That(Assert.ThrowsAsync<EsbException>(() => RunAsync(cancellationToken, ("a", "."))).Code, Is.EqualTo("ESB-HTTP-PATH"));
    }

    [Test, CancelAfter(30_000)]
    public void Value_that_is_very_long_is_refused(CancellationToken cancellationToken)
    {
        Compile(""" "path": "/customers/{property.id}" """);

        var failure = Assert.ThrowsAsync<EsbException>(() => RunAsync(cancellationToken, ("id", new string('x', 1_000_000))));

        Assert.That(
            (failure.Code, failure.Message.Length),
            Is.EqualTo(("ESB-HTTP-PATH", failure.Message.Length < 200 ? failure.Message.Length : -1))
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Query_method_and_headers_are_values(CancellationToken cancellationToken)
    {
        Compile(
            """ "query": { "since": { "property": "since" }, "page": 2, "none": { "property": "none" } }, "method": { "property": "verb" }, "headers": { "X-Tenant": { "header": "x-order" }, "x-none": { "property": "none" } } """
        );

        await RunAsync(cancellationToken, ("since", "a&b"), ("verb", "PATCH"));

        Assert.Multiple(() =>
        {
            Assert.That(
                _sent!.Request!.Query,
                Is.EqualTo(new[] { KeyValuePair.Create("since", (string?)"a&b"), new("page", "2"), new("none", null) })
            );
            Assert.That(_sent.Request.Method, Is.EqualTo("PATCH"));
            Assert.That(_sent.Request.Headers, Is.EqualTo(new[] { KeyValuePair.Create("X-Tenant", "A-1") }));
            Assert.That(_sent.Request.Path, Is.Null);
        });
    }

    [
        TestCase(""" "method": { "property": "verb" } """, "TRACE", "ESB-CALL-METHOD"),
        TestCase(""" "method": { "property": "none" } """, "", "ESB-CALL-METHOD"),
        TestCase(""" "headers": { "x-a": { "property": "verb" } } """, "a\r\nb", "ESB-HDR-VALUE")
    ]
    [CancelAfter(30_000)]
    public void Value_that_no_request_can_have_is_refused(string settings, string value, string code, CancellationToken cancellationToken)
    {
        Compile(settings);

        var failure = Assert.ThrowsAsync<EsbException>(() => RunAsync(cancellationToken, ("verb", value)));

        Assert.That((failure.Code, failure.Kind, _sent), Is.EqualTo((code, FaultKind.Invalid, (EsbMessage?)null)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Endpoint_gets_the_properties_of_the_process_as_they_are_then(CancellationToken cancellationToken)
    {
        Compile(""" "expect": "any" """, """, { "set": { "properties": { "id": "later" } } }""");

        await RunAsync(cancellationToken, ("id", "7"));

        Assert.That(_sent!.Properties!["id"], Is.EqualTo("7"));
    }

    [
        TestCase(200, null, true),
        TestCase(204, null, true),
        TestCase(302, null, false),
        TestCase(404, null, false),
        TestCase(500, null, false),
        TestCase(404, "404", true),
        TestCase(404, "\"404\"", true)
    ]
    [
        TestCase(200, "404", false),
        TestCase(404, "\"4xx\"", true),
        TestCase(500, "[\"2xx\", 404]", false),
        TestCase(404, "[\"2xx\", 404]", true),
        TestCase(599, "\"any\"", true),
        TestCase(200, "[]", true),
        CancelAfter(30_000)
    ]
    public async Task Status_that_is_not_expected_is_a_failure(
        int status,
        string? expect,
        bool isTaken,
        CancellationToken cancellationToken
    )
    {
        Compile(expect is null ? """ "maximumInstances": 1 """ : $""" "expect": {expect} """);
        Answer("the answer", status);

        if (isTaken)
        {
            var context = await RunAsync(cancellationToken);
            Assert.That((context.Message.Body.ReadText(), context.GetProperty("status")), Is.EqualTo(("the answer", (double)status)));
            return;
        }

        var failure = Assert.ThrowsAsync<EndpointException>(() => RunAsync(cancellationToken));
        Assert.That(
            (failure.Code, failure.Kind, failure.IsTransient, failure.Message),
            Is.EqualTo(
                ("ESB-HTTP-STATUS", FaultKind.Outside, status == 500, $"The endpoint 'backend' answered with status {status}: the answer")
            )
        );
    }

    [TestCase("line\r\n\tone\u001b[2J", "line   one\uFFFD[2J"), TestCase("", ""), TestCase("\0\u0001", ""), CancelAfter(30_000)]
    public void Body_of_a_failure_is_shown_as_one_line_of_text(string body, string expected, CancellationToken cancellationToken)
    {
        Compile(""" "maximumInstances": 1 """);
        Answer(body, 500);

        var failure = Assert.ThrowsAsync<EndpointException>(() => RunAsync(cancellationToken));

        Assert.That(
            failure.Message,
            Is.EqualTo($"The endpoint 'backend' answered with status 500{(expected.Length == 0 ? "." : $": {expected}")}")
        );
    }

    [Test, CancelAfter(30_000)]
    public void Long_body_of_a_failure_is_cut(CancellationToken cancellationToken)
    {
        Compile(""" "maximumInstances": 1 """);
        Answer(new string('x', 1_000_000), 500);

        var failure = Assert.ThrowsAsync<EndpointException>(() => RunAsync(cancellationToken));

        Assert.That((failure.Message.Length, failure.CallAnswer!.Body!.Length), Is.EqualTo((349, 64 * 1024)));
        Assert.That(failure.Message, Does.EndWith("xx…"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Branch_that_catches_the_failure_finds_status_and_body(CancellationToken cancellationToken)
    {
        _processes = new CompiledProcesses(
            """
            { "main": [{ "try": { "steps": [{ "call": "backend" }], "catch": [{ "codes": ["ESB-HTTP-STATUS"], "steps": [] }] } }] }
            """
        );
        Serve();
        Answer("""{ "why": "gone" }""", 404);

        var context = await RunAsync(cancellationToken);

        Assert.That(
            (context.GetProperty("error.status"), context.GetProperty("error.body"), context.GetProperty("status")),
            Is.EqualTo((404.0, """{ "why": "gone" }""", (object?)null))
        );
        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("<order/>"));
    }

    [
        TestCase("", "x-order=A-1 x-both=of-answer x-answer=1"),
        TestCase(""" "headers": "keep" """, "x-order=A-1 x-both=of-answer x-answer=1"),
        TestCase(""" "headers": "replace" """, "x-both=of-answer x-answer=1")
    ]
    [TestCase(""" "headers": { "x-sent": "1" } """, "x-order=A-1 x-both=of-answer x-answer=1"), CancelAfter(30_000)]
    public async Task Headers_of_the_message_stay_unless_the_answer_brings_the_same(
        string settings,
        string expected,
        CancellationToken cancellationToken
    )
    {
        Compile(settings.Length == 0 ? """ "expect": "2xx" """ : settings);
        Answer("", 200, [new("X-Both", "of-answer"), new("x-answer", "1")]);

        var context = await RunAsync(cancellationToken);

        Assert.That(
            context.Message.Headers.Select(header => $"{header.Key.ToLowerInvariant()}={header.Value}"),
            Is.EquivalentTo(expected.Split(' '))
        );
    }

    [
        TestCase(""" "path": "customers" """, "ESB-CFG-VALUE", "path"),
        TestCase(""" "path": "/a?b=c" """, "ESB-CFG-VALUE", "path"),
        TestCase(""" "path": "/a/../b" """, "ESB-CFG-VALUE", "path"),
        TestCase(""" "path": "/a/%2e%2E/b" """, "ESB-CFG-VALUE", "path")
    ]
    [
        TestCase(""" "path": "//evil/{property.id}" """, "ESB-CFG-VALUE", "path"),
        TestCase(""" "path": "/a%2Fb" """, "ESB-CFG-VALUE", "path"),
        TestCase(""" "path": "/a%zz" """, "ESB-CFG-VALUE", "path"),
        TestCase(""" "path": "/a b" """, "ESB-CFG-VALUE", "path")
    ]
    [
        TestCase(""" "path": "https://evil/" """, "ESB-CFG-VALUE", "path"),
        TestCase(""" "path": "/a/{id}" """, "ESB-EXPR-TEMPLATE", "path"),
        TestCase(""" "path": "/a/{property.id" """, "ESB-EXPR-TEMPLATE", "path"),
        TestCase(""" "path": "/a\\b" """, "ESB-CFG-VALUE", "path")
    ]
    [
        TestCase(""" "method": "post" """, "ESB-CFG-VALUE", "method"),
        TestCase(""" "headers": { "Host": "evil" } """, "ESB-CFG-HEADER", "headers.Host"),
        TestCase(""" "headers": { "a b": "c" } """, "ESB-CFG-HEADER", "headers.a b"),
        TestCase(""" "headers": { "esb-key": "c" } """, "ESB-CFG-HEADER", "headers.esb-key")
    ]
    [
        TestCase(""" "headers": "drop" """, "ESB-CFG-VALUE", "headers"),
        TestCase(""" "expect": 600 """, "ESB-CFG-VALUE", "expect"),
        TestCase(""" "expect": "2xx 500" """, "ESB-CFG-VALUE", "expect"),
        TestCase(""" "expect": ["2xx", "good"] """, "ESB-CFG-VALUE", "expect[1]")
    ]
    [TestCase(""" "query": { "": "a" } """, "ESB-CFG-VALUE", "query")]
    public void Mistake_is_found_before_anything_is_sent(string settings, string code, string property)
    {
        Compile(settings);

        Assert.That(
            _processes!.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { (code, $"processes.main[0].call.{property}") })
        );
    }

    [Test]
    public void Endpoint_that_is_not_of_http_takes_no_path()
    {
        _processes = new CompiledProcesses("""{ "main": [{ "call": { "endpoint": "shop-db", "path": "/a" } }] }""");

        Assert.That(
            _processes.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-VALUE", "processes.main[0].call.endpoint") })
        );
    }

    private void Compile(string settings, string behind = "")
    {
        _processes = new CompiledProcesses($$"""{ "main": [{ "call": { "endpoint": "backend", {{settings}} } }{{behind}}] }""");
        Serve();
    }

    private void Serve() =>
        _processes!
            .Caller.CallAsync(default!, default!, default, default)
            .ReturnsForAnyArgs(call =>
            {
                _sent = call.Arg<EsbMessage>();
                var answer = _sent.Reply(MessageBody.FromText(_answer.Body), TimeProvider.System);
                return new ValueTask<EsbMessage?>(
                    answer with
                    {
                        Headers = MessageHeaders.From(_answer.Headers).With(EsbHeaders.Status, $"{_answer.Status}"),
                    }
                );
            });

    private void Answer(string body, int status, params KeyValuePair<string, string>[] headers) => _answer = (body, status, headers);

    private Task<MessageContext> RunAsync(CancellationToken cancellationToken, params (string Name, string? Value)[] properties)
    {
        var message = Some.Message("<order/>") with { Headers = MessageHeaders.From([new("x-order", "A-1"), new("x-both", "of-message")]) };
        return _processes!.RunAsync(
            Some.Context(
                message with
                {
                    Properties = properties
                        .Where(property => property.Value is not null)
                        .ToDictionary(property => property.Name, property => (object)property.Value!),
                }
            ),
            cancellationToken
        );
    }
}
