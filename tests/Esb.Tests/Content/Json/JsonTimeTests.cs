using Esb.Content.Expressions;
using Esb.Content.Json.Paths;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Tests.Fakes;

namespace Esb.Tests.Content.Json;

/// <summary>JSONPaths whose cost runs away, and those whose cost does not.</summary>
public sealed class JsonTimeTests
{
    private static readonly string Lines = $$"""{"lines":[{{string.Join(',', Enumerable.Repeat("{}", 200_000))}}]}""";
    private static readonly string Deep = $$"""{"lines":{{new string('[', 60)}}{{new string(']', 60)}}}""";

    [TestCase("$..[?count($..*) < 1]"), TestCase("$.lines[?count($.lines[1:]) < 1]"), TestCase("$.lines[?$.lines[?@.x]]")]
    [CancelAfter(30_000)]
    public void Path_whose_cost_runs_away_over_a_long_body_is_ended(string path)
    {
        Assert.That(() => Evaluate(path, Lines), Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-JPT-TIMEOUT"));
    }

    [Test, CancelAfter(30_000)]
    public void Path_behind_the_pass_that_runs_away_is_ended_and_the_others_go_on()
    {
        var compiler = Compiler();
        var (endless, other) = (Compile(compiler, "$.lines..*..*..*..*..*..*..*.x"), Compile(compiler, "$.other"));
        var context = Some.Context($"{Deep[..^1]},\"other\":1}}");

        Assert.That(() => endless.Evaluate(context), Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-JPT-TIMEOUT"));
        Assert.That(other.Evaluate(context), Is.EqualTo(1.0));
    }

    [TestCase("$.lines[1:]", "{}"), TestCase("$.lines[::-1]", "{}"), TestCase("$.lines[-2::2]", "{}"), TestCase("$.lines[1:][?@.x]", null)]
    [CancelAfter(30_000)]
    public void Slice_costs_one_pass_over_the_array(string path, string? expected)
    {
        Assert.That(Evaluate(path, Lines, TimeSpan.FromSeconds(10)), Is.EqualTo(expected));
    }

    [Test, CancelAfter(30_000)]
    public void Nodes_of_a_slice_are_counted_in_one_pass()
    {
        var value = Compiler(TimeSpan.FromSeconds(10))
            .Compile(new ValueConfig { Jsonpath = "$.lines[1:]", Single = true }, new ConfigErrors())!;

        Assert.That(() => value.Evaluate(Some.Context(Lines)), Throws.InstanceOf<EsbException>().With.Message.Contains("199999"));
    }

    [Test]
    public void Time_in_which_nothing_is_selected_does_not_count()
    {
        var clock = new ManualTime();
        var time = new JsonTime(clock, TimeSpan.FromSeconds(2));

        for (var i = 0; i < 5; i++)
        {
            time.Resume();
            Count(time, 10_000);
            clock.Advance(TimeSpan.FromSeconds(10));
        }

        Assert.That(() => Count(time, 2_000), Throws.InstanceOf<EsbException>(), "it was not resumed");
    }

    private static void Count(JsonTime time, int nodes)
    {
        for (var i = 0; i < nodes; i++)
            time.Count();
    }

    private static ExpressionCompiler Compiler(TimeSpan? limit = null) =>
        new(
            new Dictionary<string, string>(),
            new XmlInput(new XmlLimits { ExpressionTime = limit ?? TimeSpan.FromMilliseconds(100) }),
            TimeProvider.System
        );

    private static IMessageValue Compile(ExpressionCompiler compiler, string path) =>
        compiler.Compile(new ValueConfig { Jsonpath = path }, new ConfigErrors())!;

    private static object? Evaluate(string path, string body, TimeSpan? limit = null) =>
        Compile(Compiler(limit), path).Evaluate(Some.Context(body));
}
