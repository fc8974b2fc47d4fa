using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Tests.Content.Expressions;

/// <summary>All expressions of a configuration share one pass over a document: what is compiled once messages may run is refused.</summary>
public sealed class LateCompilationTests
{
    [Test]
    public void Nothing_is_compiled_any_more_once_the_configuration_is_complete()
    {
        var compiler = SomeContent.Compiler();
        var (value, condition) = (
            new ValueConfig { Path = "v", Xpath = "/order/type" },
            new ConditionConfig
            {
                Path = "c",
                Jsonpath = "$.type",
                Exists = true,
            }
        );
        var known = compiler.Compile(value, new ConfigErrors())!;

        compiler.Dispose();

        Assert.That(() => compiler.Compile(value, new ConfigErrors()), Throws.InvalidOperationException.With.Message.StartsWith("v "));
        Assert.That(() => compiler.Compile(condition, new ConfigErrors()), Throws.InvalidOperationException.With.Message.StartsWith("c "));
        Assert.That(
            () => compiler.CompileTemplate("{header.x}", "t", ConfigOrigin.Default, new ConfigErrors()),
            Throws.InvalidOperationException.With.Message.StartsWith("t ")
        );
        Assert.That(known.Evaluate(Some.Context("<order><type>gold</type></order>")), Is.EqualTo("gold"));
    }
}
