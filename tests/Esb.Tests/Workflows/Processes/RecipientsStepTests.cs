using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class RecipientsStepTests : IDisposable
{
    private readonly List<(string Subject, Guid Id)> _published = [];
    private CompiledProcesses? _processes;

    public void Dispose() => _processes?.Dispose();

    [TestCase("orders.a, orders.b,orders.a"), TestCase(""" ["orders.a", "orders.b"] """)]
    public async Task Each_recipient_gets_the_message_once_under_an_id_of_its_own(string to, CancellationToken cancellationToken)
    {
        Compile("fail");
        var message = MessageTo(to);

        var context = await _processes!.RunAsync(message, cancellationToken);
        await _processes.RunAsync(message, cancellationToken);

        Assert.That(_published.Take(2).Select(sent => sent.Subject), Is.EqualTo(new[] { "orders.a", "orders.b" }));
        Assert.That(_published[0].Id, Is.Not.EqualTo(_published[1].Id));
        Assert.That(_published.Skip(2), Is.EqualTo(_published.Take(2)), "a repetition publishes the same");
        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("<order/>"));
    }

    [
        TestCase("orders.a,secret.b"),
        TestCase("orders.a,orders.x.y"),
        TestCase("orders.a,*"),
        TestCase("[\"orders.a\", 1]"),
        TestCase("[\"orders.a\", null]"),
        TestCase(""),
        TestCase("[]"),
        TestCase("orders.a b")
    ]
    public void Nothing_is_published_when_one_recipient_is_not_allowed(string to, CancellationToken cancellationToken)
    {
        Compile("fail");

        var error = Assert.ThrowsAsync<EsbException>(() => _processes!.RunAsync(MessageTo(to), cancellationToken))!;

        Assert.That((error.Code, error.Kind, _published.Count), Is.EqualTo(("ESB-RCPT-ALLOW", FaultKind.Invalid, 0)));
    }

    [Test]
    public async Task Recipient_that_is_not_allowed_is_left_out_where_that_is_asked_for(CancellationToken cancellationToken)
    {
        Compile("ignore");

        await _processes!.RunAsync(MessageTo("secret.b,orders.a"), cancellationToken);
        await _processes.RunAsync(MessageTo(""), cancellationToken);

        Assert.That(_published.Select(sent => sent.Subject), Is.EqualTo(new[] { "orders.a" }));
    }

    [Test]
    public void More_than_a_thousand_recipients_are_refused(CancellationToken cancellationToken)
    {
        Compile("fail");

        var error = Assert.ThrowsAsync<EsbException>(() =>
            _processes!.RunAsync(MessageTo(string.Join(',', Enumerable.Range(0, 1_001).Select(i => $"orders.r{i}"))), cancellationToken)
        )!;

        Assert.That((error.Code, _published.Count), Is.EqualTo(("ESB-RCPT-LIMIT", 0)));
    }

    [
        TestCase("""{ "to": { "header": "x-to" }, "allow": [] }""", "ESB-CFG-VALUE"),
        TestCase("""{ "to": { "header": "x-to" }, "allow": ["nothing.*"] }""", "ESB-CFG-REF"),
        TestCase("""{ "to": { "header": "x-to" }, "allow": ["#"] }""", "ESB-CFG-SUBJECT")
    ]
    public void Mistake_is_found_before_a_message_comes(string step, string code)
    {
        _processes = new CompiledProcesses($$"""{ "main": [{ "recipients": {{step}} }] }""");

        Assert.That(_processes.Errors.All.Select(error => error.Code), Is.EqualTo(new[] { code }));
    }

    private static EsbMessage MessageTo(string to) => Some.Message("<order/>") with { Headers = MessageHeaders.From([new("x-to", to)]) };

    private void Compile(string otherwise)
    {
        _processes = new CompiledProcesses(
            $$"""{ "main": [{ "recipients": { "to": { "header": "x-to" }, "allow": ["orders.*"], "otherwise": "{{otherwise}}" } }] }"""
        );
        _processes
            .Publisher.WhenForAnyArgs(each => each.PublishAsync(default!, default!, default!, default))
            .Do(call => _published.Add((call.Arg<Subject>().Value, call.Arg<MessageContext>().NextPublishId(call.Arg<string>()))));
    }
}
