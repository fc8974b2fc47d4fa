using Esb.Core.Errors;
using Esb.Core.Messages;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class CallTargetTests : IDisposable
{
    private CompiledProcesses? _processes;

    public void Dispose() => _processes?.Dispose();

    [Test, CancelAfter(30_000)]
    public async Task Message_decides_by_name_where_the_call_goes(CancellationToken cancellationToken)
    {
        Compile("""{ "xpath": "string(/order/@region)" }""");

        await _processes!.RunAsync(Some.Message("""<order region="west"/>"""), cancellationToken);

        await _processes
            .Caller.Received()
            .CallAsync(
                "backend",
                Arg.Is<EsbMessage>(message => message.Headers[EsbHeaders.Target] == "west"),
                null,
                Arg.Any<CancellationToken>()
            );
    }

    [Test, CancelAfter(30_000), Property("Case", "XPT-11")]
    public async Task Hops_of_what_came_in_go_with_the_call(CancellationToken cancellationToken)
    {
        Compile("\"east\"");

        await _processes!.RunAsync(MessageHops.Set(Some.Message(), hops: 5), cancellationToken);

        await _processes
            .Caller.Received()
            .CallAsync("backend", Arg.Is<EsbMessage>(message => MessageHops.Of(message) == 5), null, Arg.Any<CancellationToken>());
    }

    [TestCase("<order/>"), TestCase("""<order region=""/>"""), TestCase("""<order region="a&#10;b"/>"""), CancelAfter(30_000)]
    public void Message_that_names_no_place_goes_nowhere(string body, CancellationToken cancellationToken)
    {
        Compile("""{ "xpath": "string(/order/@region)" }""");

        var failure = Assert.ThrowsAsync<EsbException>(() => _processes!.RunAsync(Some.Message(body), cancellationToken));

        Assert.That((failure!.Code, failure.Kind), Is.EqualTo(("ESB-CALL-TARGET", FaultKind.Invalid)));
        _processes!.Caller.DidNotReceiveWithAnyArgs().CallAsync(default!, default!, default, default);
    }

    [
        TestCase("backend", "\"east\"", null),
        TestCase("backend", "\"north\"", "'backend' has no such target"),
        TestCase("shop-db", "\"east\"", "'shop-db' has no targets to choose from")
    ]
    public void Target_that_cannot_be_is_refused_at_the_start(string endpoint, string target, string? expected)
    {
        Compile(target, endpoint);

        Assert.That(
            _processes!.Errors.All.Select(error => $"{error.Code} {error.Path}: {error.Expected}"),
            Is.EqualTo(expected is null ? [] : new[] { $"ESB-CFG-TARGET processes.main[0].call.target: {expected}" })
        );
    }

    private void Compile(string target, string endpoint = "backend") =>
        _processes = new CompiledProcesses($$"""{ "main": [{ "call": { "endpoint": "{{endpoint}}", "target": {{target}} } }] }""");
}
