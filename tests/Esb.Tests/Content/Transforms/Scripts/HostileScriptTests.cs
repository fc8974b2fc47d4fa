using Esb.Core.Errors;

namespace Esb.Tests.Content.Transforms.Scripts;

/// <summary>Scripts that would take the host down: each costs its message.</summary>
public sealed class HostileScriptTests
{
    [TestCase("while (true);")]
    [TestCase("for (;;) { try { while (true); } catch { } finally { while (true); } }")]
    [TestCase("const f = () => 1 + f(); f();")]
    [TestCase("function a() { return 1 + b(); } function b() { return 1 + a(); } a();")]
    [TestCase("function F() { this.f = new F(); } new F();")]
    [TestCase("const o = { get x() { return this.x; } }; o.x;")]
    [TestCase("const o = { toString() { return '' + this; } }; '' + o;")]
    [TestCase("const o = { toString: () => '' + o }; '' + o;")]
    [TestCase("const o = { toJSON() { return JSON.stringify({ o }); } }; JSON.stringify(o);")]
    [TestCase("const a = []; while (true) a.push('x'.repeat(1000));")]
    [TestCase("let s = 'x'; while (true) s += s;")]
    [TestCase("'x'.repeat(500000000);")]
    [TestCase("'x'.padEnd(500000000);")]
    [TestCase("new Array(100000).join('x'.repeat(1000000));")]
    [TestCase("new Array(1000000).fill().map((_, i) => ({ i }));")]
    [TestCase("/^(a+)+$/.test('a'.repeat(60) + 'b');")]
    [TestCase("new RegExp('^(a+)+$').test('a'.repeat(60) + 'b');")]
    [TestCase("let o = {}; for (let i = 0; i < 50000; i++) o = { o }; JSON.stringify(o);")]
    [TestCase("let o = {}; for (let i = 0; i < 50000; i++) o = { o }; JSON.stringify(o, ['o']);")]
    [TestCase("let o = {}; for (let i = 0; i < 50000; i++) o = { o }; JSON.stringify(o, (key, value) => value);")]
    [TestCase("let o = []; for (let i = 0; i < 50000; i++) o = [o]; String(o);")]
    [TestCase("let o = []; for (let i = 0; i < 50000; i++) o = [o]; `${o}`;")]
    [TestCase("let o = []; for (let i = 0; i < 50000; i++) o = [o]; o.toLocaleString();")]
    [TestCase("Array.from({ length: 1000 }, (_, i) => i).sort(() => { while (true); });")]
    [TestCase("class A { static x = new A(); y = new A(); } new A();")]
    [CancelAfter(120_000)]
    public void Script_that_runs_away_is_ended(string script)
    {
        using var content = ScriptedContent.Js($"export default () => {{ {script} return {{}}; }};");

        var error = Assert.Throws<EsbException>(() => content.Map.Transform(ScriptedContent.Call("{}", "application/json")))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-JS-LIMIT", FaultKind.Internal)), error.ToString());
    }

    [TestCase("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)")]
    [TestCase("new Proxy({}, {})")]
    [TestCase("BigInt(1)")]
    [TestCase("new Uint8Array(2000000000)")]
    [TestCase("JSON.parse('['.repeat(200000))")]
    [TestCase("new Array(-1)")]
    public void What_a_script_may_not_use_is_an_error(string expression)
    {
        using var content = ScriptedContent.Js($"export default () => [{expression}];");

        Assert.That(Assert.Throws<EsbException>(() => content.Map.Transform(ScriptedContent.Call("{}")))!.Code, Is.EqualTo("ESB-JS-ERROR"));
    }

    [Test]
    public void Nested_lists_are_flattened_and_joined_as_ever()
    {
        using var content = ScriptedContent.Js(
            """
            export default () => [[1, [2, [3]]].flat(), [1, [2, [3]]].flat(Infinity), [1, [2, 3]].join(';'), JSON.stringify({ a: 1, b: [{ a: 2, c: 3 }] }, ['a', 'b']), JSON.stringify({ a: 1 }, (k, v) => k === 'a' ? 2 : v, 1), 'a'.repeat(3), '7'.padStart(3, '0')];
            """
        );

        Assert.That(
            content.Make("{}"),
            Is.EqualTo("""[[1,2,[3]],[1,2,3],"1;2,3","{\"a\":1,\"b\":[{\"a\":2}]}","{\n \"a\": 2\n}","aaa","007"]""")
        );
    }

    [Test]
    public void Document_of_the_greatest_depth_is_walked_through()
    {
        using var content = ScriptedContent.Js("export default function walk(x) { return Array.isArray(x) ? x.map(y => walk(y)) : x; }");
        var deep = new string('[', 64) + new string(']', 64);

        Assert.That(content.Make(deep, "application/json"), Is.EqualTo(deep));
    }

    [Test]
    public void Body_of_the_greatest_size_is_mapped_with_the_default_limits_but_for_time()
    {
        using var content = ScriptedContent.Js(
            "export default input => input.map(line => ({ sku: line.sku, sum: line.qty * line.price }));",
            """, "limits": { "time": "60s" } """ // the machine may be busy
        );
        var lines = string.Join(
            ',',
            Enumerable.Range(0, 60_000).Select(i => $$"""{"sku":"S-{{i}}","qty":{{i}},"price":1.25,"note":"a text of some length"}""")
        );

        Assert.That(content.Make($"[{lines}]", "application/json"), Does.EndWith("""{"sku":"S-59999","sum":74998.75}]"""));
    }

    [Test]
    public void Limits_are_those_of_the_map()
    {
        const string Module = "export default () => { let n = 0; for (let i = 0; i < 5000; i++) n += i; return [n]; };";
        using var tight = ScriptedContent.Js(Module, """, "limits": { "statements": 1000 } """);
        using var usual = ScriptedContent.Js(Module);

        Assert.That(usual.Make("{}"), Is.EqualTo("[12497500]"));
        Assert.That(Assert.Throws<EsbException>(() => tight.Make("{}"))!.Message, Does.Contain("more than 1000 statements"));
    }
}
