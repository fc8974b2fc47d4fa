using Esb.Content.Expressions;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Tests.Content;

namespace Esb.Tests.Fuzzing;

/// <summary>An expression compiles or has an error; one that compiles evaluates, or refuses the message.</summary>
/// <param name="body">What it is evaluated for.</param>
/// <param name="valid">Expressions to break.</param>
/// <param name="pieces">What has a meaning in them.</param>
public abstract class ExpressionFuzzer(string body, string[] valid, string[] pieces) : Fuzzer
{
    private int _compiled;
    private int _refused;

    private protected abstract IMessageValue? Compile(ExpressionCompiler compiler, string expression, ConfigErrors errors);

    protected override void Round(Random random)
    {
        var expression = Broken.Text(random, valid[random.Next(valid.Length)], pieces);
        var errors = new ConfigErrors();
        using var compiler = SomeContent.Compiler(("p", "urn:p"));

        var value = Compile(compiler, expression, errors);

        Assert.That(value is null, Is.EqualTo(errors.Any), $"refused without an error, or compiled with one: {expression}");
        if (value is null)
        {
            _refused++;
            return;
        }

        _compiled++;
        try
        {
            value.Evaluate(Some.Context(body));
        }
        catch (Exception ex)
        {
            Assert.That(ex, Is.InstanceOf<EsbException>(), expression);
        }
    }

    protected override void AssertReach() => Assert.That((_compiled > 0, _refused > 0), Is.EqualTo((true, true)));
}

public sealed class XPathFuzzTests()
    : ExpressionFuzzer(
        "<order xmlns:p='urn:p' id='7'><p:type>gold</p:type><line n='1'>a</line><line n='2'>b</line></order>",
        [
            "/order/line[@n = '2']/text()",
            "count(//line[position() > 1 and @n != '']) * 2 - 1",
            "concat(string(/order/@id), '-', normalize-space(/order/p:type))",
            "substring-before(translate(name(/*), 'o', 'O'), 'd') or not(boolean(/order/none))",
            "/descendant-or-self::node()/child::*[last()]/ancestor::order | //comment() | //processing-instruction('x')",
            "sum(/order/line/@n) div 3 mod 2 >= round(-1.5) + number('12')",
        ],
        [
            "/",
            "//",
            "[",
            "]",
            "(",
            ")",
            "@",
            "::",
            "|",
            "..",
            "'",
            "\"",
            "$x",
            "p:",
            "q:",
            "not(",
            "count(",
            "document('x')",
            "id('x')",
            "lang('de')",
            "1e5",
            " div ",
            "*",
            "[1][1][1]",
        ]
    )
{
    private protected override IMessageValue? Compile(ExpressionCompiler compiler, string expression, ConfigErrors errors) =>
        compiler.Compile(new ValueConfig { Xpath = expression }, errors);
}

public sealed class JsonPathFuzzTests()
    : ExpressionFuzzer(
        """{"id":7,"type":"gold","lines":[{"n":1,"t":"a"},{"n":2,"t":"b"}],"deep":{"lines":[[1,2],[3]]}}""",
        [
            "$.lines[?@.n > 1].t",
            "$['lines'][0, 1:3:2, -1]['n','t']",
            "$..lines[?length(@.t) == 1 && (@.n != 2 || !@.x)]",
            "$.lines[?match(@.t, '[a-c]{1,2}') || search(@.t, 'x|y')]",
            "$.deep.lines[*][?@ >= $.id || count(@..*) < 3]",
            """$["\u0061\\\"", '\ud83d\ude00', type].*""",
        ],
        [
            "$",
            "@",
            "..",
            ".",
            "[",
            "]",
            "[?",
            "*",
            ":",
            ",",
            "'",
            "\"",
            "\\u",
            "\\ud800",
            "&&",
            "||",
            "!",
            "==",
            "length(",
            "match(@, '(a+)+$')",
            "-0",
            "9007199254740993",
            "1e999",
            "(",
            ")",
        ]
    )
{
    private protected override IMessageValue? Compile(ExpressionCompiler compiler, string expression, ConfigErrors errors) =>
        compiler.Compile(new ValueConfig { Jsonpath = expression }, errors);
}
