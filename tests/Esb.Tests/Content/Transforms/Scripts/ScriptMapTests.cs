using System.Text;
using Esb.Content.Transforms;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Tests.Content.Transforms.Scripts;

/// <summary>Maps in JavaScript.</summary>
public sealed class ScriptMapTests
{
    [Test]
    public void JSON_is_mapped_to_JSON()
    {
        using var content = ScriptedContent.Js(
            """
            export default (input, context) => ({ id: input.order, total: input.lines.reduce((sum, line) => sum + line.qty * line.price, 0), none: undefined, at: new Date(0) });
            """
        );

        var made = content.Map.Transform(
            ScriptedContent.Call(
                """{ "order": "Ä-1", "lines": [{ "qty": 2, "price": 1.5 }, { "qty": 1, "price": 4 }] }""",
                "application/json"
            )
        );

        Assert.That(made.Body.ReadText(), Is.EqualTo("""{"id":"Ä-1","total":7,"at":"1970-01-01T00:00:00.000Z"}"""));
        Assert.That((made.ContentType, made.Kind), Is.EqualTo(("application/json", MadeKind.Json)));
    }

    [Test]
    public void XML_is_seen_in_its_JSON_form()
    {
        using var content = new ScriptedContent(
            "map.js",
            "export default input => input;",
            sections: """, "namespaces": { "p": "urn:p" } """
        );

        var made = content.Make(
            """<order xmlns="urn:o" xmlns:x="urn:p" id="7" x:kind="k"><x:line>a</x:line><x:line n="2">b</x:line><note/> <sum><net>1</net></sum></order>"""
        );

        Assert.That(
            made,
            Is.EqualTo("""{"order":{"@id":"7","@p:kind":"k","p:line":["a",{"@n":"2","#text":"b"}],"note":"","sum":{"net":"1"}}}""")
        );
    }

    [Test]
    public void Other_bodies_are_text_and_a_text_is_of_the_content_type_of_the_map()
    {
        using var content = ScriptedContent.Js(
            "export default input => `<p>${input.toUpperCase()}</p>`;",
            """, "contentType": "text/html" """
        );

        var made = content.Map.Transform(ScriptedContent.Call("a;b", "text/csv"));

        Assert.That(made.Body.ReadText(), Is.EqualTo("<p>A;B</p>"));
        Assert.That((made.ContentType, made.Kind), Is.EqualTo(("text/html; charset=utf-8", MadeKind.Html)));
    }

    [Test]
    public void Context_has_the_message_and_what_the_step_gives()
    {
        using var content = ScriptedContent.Js(
            """
            export default (input, { message, headers, properties, parameters, inputs, log }) => {
              log(`saw ${message.subject}`);
              return [message.contentType, message.endpoint, headers['x-order'], properties.count + 1, parameters.region, inputs.crm.customer.name, inputs.list[1]];
            };
            """
        );
        var call = ScriptedContent.Call("{}", "application/json", context => context.SetProperty("count", 41.0));
        call.Context.Message = call.Context.Message with { Subject = "orders.new", Headers = MessageHeaders.Empty.With("X-Order", "7") };

        var made = content.Map.Transform(
            call,
            new MapArgument("region", "north"),
            new MapArgument("crm", MessageBody.FromText("<customer><name>Zoë</name></customer>")),
            new MapArgument("list", MessageBody.FromText("[1,2]"))
        );

        Assert.That(made.Body.ReadText(), Is.EqualTo("""["application/json","door","7",42,"north","Zoë",2]"""));
    }

    [Test]
    public void Lines_that_a_map_logs_are_handed_on_up_to_a_hundred()
    {
        var map = Open("export default (input, context) => { for (let i = 0; i < 1000; i++) context.log(`line ${i}`); return {}; };");
        var lines = new List<string>();

        map.Transform(ScriptedContent.Call("{}") with { Log = lines.Add });

        Assert.That(lines, Has.Count.EqualTo(100));
        Assert.That((lines[0], lines[^1]), Is.EqualTo(("line 0", "further lines of this message are left out")));
    }

    [Test]
    public void Nothing_that_a_message_changes_is_seen_by_the_next()
    {
        using var content = ScriptedContent.Js(
            """
            let count = 0;
            export default input => {
              const seen = [count++, globalThis.leak ?? 0, typeof Object.prototype.polluted, [].sum === undefined, JSON.stringify === globalThis.own, Symbol.for('a') === globalThis.symbol];
              globalThis.leak = 1;
              globalThis.own = JSON.stringify;
              globalThis.symbol = Symbol.for('a');
              Object.prototype.polluted = 'yes';
              Array.prototype.sum = () => 1;
              JSON.stringify = () => 'mine';
              input.items.push(1);
              return seen;
            };
            """
        );
        var message = ScriptedContent.Call("""{ "items": [] }""", "application/json");

        var made = Enumerable.Range(0, 3).Select(_ => content.Map.Transform(message).Body.ReadText()).Distinct().ToList();

        Assert.That(made, Is.EqualTo(new[] { """[0,0,"undefined",true,false,false]""" }));
        Assert.That(message.Context.Message.Body.ReadText(), Is.EqualTo("""{ "items": [] }"""));
    }

    [TestCase("() => {}", "is nothing")]
    [TestCase("() => null", "is null")]
    [TestCase("() => 7", "is a number")]
    [TestCase("async () => ({})", "is a promise")]
    [TestCase("() => () => 1", "is a function")]
    [TestCase("() => { const a = {}; a.a = a; return a; }", "nested deeper than 64 levels")]
    [TestCase("() => { let a = []; for (let i = 0; i < 70; i++) a = [a]; return a; }", "nested deeper than 64 levels")]
    [TestCase("() => '\\ud800'", "not Unicode")]
    public void Result_that_is_no_document_is_refused(string function, string expected)
    {
        var error = Fail($"export default {function};");

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-JS-RESULT", FaultKind.Internal)));
        Assert.That(error.Message, Does.Contain(expected));
    }

    [TestCase("export default input => {\n  return input.a.b.c;\n};", "line 2, column")]
    [TestCase("export default () => { throw new Error('no stock'); };", "no stock")]
    [TestCase("export default () => nowhere;", "nowhere")]
    [TestCase("export default () => System.IO.File.ReadAllText('/etc/passwd');", "System is not defined")]
    [TestCase("export default () => importNamespace('System');", "importNamespace is not defined")]
    [TestCase("export default () => require('fs');", "require is not defined")]
    [TestCase("export default (input, context) => context.log.GetType();", "line 1, column")]
    public void Exception_is_an_error_with_its_place(string module, string expected)
    {
        var error = Fail(module);

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-JS-ERROR", FaultKind.Internal)));
        Assert.That(error.Message, Does.Contain(expected).And.Contain("at line"));
    }

    [TestCase("eval('1')", "String compilation has been disabled")]
    [TestCase("new Function('return 1')()", "String compilation has been disabled")]
    [TestCase("(() => 1).constructor('return 1')()", "String compilation has been disabled")]
    [TestCase("context.fail(7)", "expected a text as reason")]
    public void What_a_script_may_not_do_is_an_error(string expression, string expected)
    {
        var error = Fail($"export default (input, context) => {expression};");

        Assert.That(error.Code, Is.EqualTo("ESB-JS-ERROR"));
        Assert.That(error.Message, Does.Contain(expected));
    }

    [TestCase("context.fail('out of stock')", "ESB-PROC-REFUSED", 422, FaultKind.Invalid)]
    [TestCase("context.fail('out of stock', { status: 409, code: 'OUT-OF-STOCK' })", "OUT-OF-STOCK", 409, FaultKind.Invalid)]
    [TestCase("context.fail('out of stock', { status: 503 })", "ESB-PROC-REFUSED", 503, FaultKind.Internal)]
    public void Fail_acts_as_the_step_and_cannot_be_caught(string call, string code, int status, FaultKind kind)
    {
        var error = Fail($"export default (input, context) => {{ try {{ {call}; }} catch {{ return {{}}; }} finally {{ }} }};");

        Assert.That((error.Code, error.Status, error.Kind, error.Message), Is.EqualTo((code, status, kind, "out of stock")));
    }

    [Test]
    public void Lookup_without_look_ups_says_so()
    {
        Assert.That(Fail("export default (input, context) => context.lookup('countries', 'de');").Code, Is.EqualTo("ESB-JS-LOOKUP"));
    }

    [Test]
    public void Lookup_asks_for_a_name_and_a_key()
    {
        var map = Open("export default (input, context) => [context.lookup('countries', 'de'), context.lookup('sizes', 7) === undefined];");

        var made = map.Transform(
            ScriptedContent.Call("{}") with
            {
                Lookup = (name, key) => name == "countries" && key is "de" ? "Germany" : null,
            }
        );

        Assert.That(made.Body.ReadText(), Is.EqualTo("""["Germany",true]"""));
    }

    [TestCase("export default input => {\n  return {;\n};", 2)]
    [TestCase("\nimport x from './other.js';\nexport default () => x;", 2)]
    [TestCase("export * from './other.js';\nexport default () => 1;", 1)]
    [TestCase("export default () => import('./other.js');", 1)]
    [TestCase("const x = await 1;\nexport default () => x;", 1)]
    [TestCase("export const x = 1;", 1)]
    [TestCase("export default 7;", 1)]
    [TestCase("\n\nexport default function* () { }", 3)]
    [TestCase("export default () => 1n;", 1)]
    [TestCase("\nnull.x;\nexport default () => 1;", 2)]
    [TestCase("while (true);\nexport default () => 1;", 1)]
    [TestCase("export default () => /(/;", 1)]
    public void Module_that_cannot_be_used_is_a_configuration_error_with_its_place(string module, int line)
    {
        using var content = ScriptedContent.Js(module);

        Assert.That(content.Errors.Single().Code, Is.EqualTo("ESB-JS-COMPILE"));
        Assert.That(content.Errors.Single().Path, Is.EqualTo("maps.map"));
        Assert.That(content.Errors.Single().Expected, Does.StartWith($"map.js, line {line}, column "));
    }

    [TestCase("1 + ", 500)]
    public void Code_that_is_nested_too_deep_is_a_configuration_error(string part, int times)
    {
        using var content = ScriptedContent.Js($"export default () => {string.Concat(Enumerable.Repeat(part, times))}1;");

        Assert.That(content.Errors.Single().Code, Is.EqualTo("ESB-JS-COMPILE"));
    }

    [TestCase("map.xsl", ", \"contentType\": \"text/html\"", "contentType")]
    [TestCase("map.xsl", ", \"limits\": { \"time\": \"1s\" }", "limits")]
    [TestCase("map.js", ", \"contentType\": \"html\"", "contentType")]
    [TestCase("map.js", ", \"contentType\": \"text/html; charset=iso-8859-1\"", "contentType")]
    public void Setting_that_does_not_fit_the_language_is_a_configuration_error(string file, string settings, string property)
    {
        using var content = new ScriptedContent(file, file == "map.js" ? "export default () => 1;" : SomeMaps.Stylesheet(""), settings);

        Assert.That((content.Errors.Single().Code, content.Errors.Single().Path), Is.EqualTo(("ESB-CFG-MAP", $"maps.map.{property}")));
    }

    [Test]
    public void File_that_is_no_UTF_8_is_a_configuration_error()
    {
        var path = Path.Combine(TestContext.CurrentContext.WorkDirectory, $"{Guid.NewGuid():N}.js");
        File.WriteAllBytes(path, [.. Encoding.UTF8.GetBytes("\n// "), 0xE4]);
        try
        {
            Assert.That(
                Assert.Throws<MapFileException>(() => MapText.Read(path)),
                Has.Property("Line").EqualTo(2).And.Property("Code").EqualTo("ESB-CFG-MAP")
            );
        }
        finally
        {
            File.Delete(path);
        }
    }

    [Test]
    public void Script_changes_just_what_it_names()
    {
        using var content = ScriptedContent.Js(
            "export default () => ({ headers: { 'x-a': 7, 'x-b': null }, properties: { done: true, list: [1], gone: null } });"
        );

        var changes = content.Script.Change(ScriptedContent.Call("{}"));

        Assert.That(changes.Body, Is.Null);
        Assert.That(
            changes.Headers,
            Is.EqualTo(new[] { KeyValuePair.Create("x-a", (string?)"7"), KeyValuePair.Create("x-b", (string?)null) })
        );
        Assert.That(
            changes.Properties,
            Is.EqualTo(
                new[]
                {
                    KeyValuePair.Create("done", (object?)true),
                    KeyValuePair.Create("list", (object?)"[1]"),
                    KeyValuePair.Create("gone", (object?)null),
                }
            )
        );
    }

    [TestCase("() => 'text'", "expected an object")]
    [TestCase("() => ({ boddy: 1 })", "the member 'boddy'")]
    [TestCase("() => ({ headers: { 'esb-status': '1' } })", "reserved")]
    [TestCase("() => ({ headers: { 'a b': '1' } })", "a header whose name")]
    [TestCase("() => ({ headers: 7 })", "headers that are no object")]
    [TestCase("() => ({ body: 7 })", "is a number")]
    public void Change_that_is_none_is_refused(string function, string expected)
    {
        using var content = ScriptedContent.Js($"export default {function};");

        var error = Assert.Throws<EsbException>(() => content.Script.Change(ScriptedContent.Call("{}")))!;

        Assert.That(error.Code, Is.EqualTo("ESB-JS-RESULT"));
        Assert.That(error.Message, Does.Contain(expected));
    }

    [TestCase("{", "ESB-JSON-SYNTAX")]
    [TestCase("<a>", "ESB-XML-SYNTAX")]
    [TestCase("""{ "a": 1, "a": 2 }""", "ESB-JSON-DUPKEY")]
    public void Body_that_cannot_be_read_is_the_fault_of_its_sender(string body, string code)
    {
        using var content = ScriptedContent.Js("export default input => input;");

        var error = Assert.Throws<EsbException>(() => content.Map.Transform(ScriptedContent.Call(body)))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo((code, FaultKind.Malformed)));
    }

    [Test]
    public void Name_that_means_a_prototype_is_an_ordinary_member()
    {
        using var content = ScriptedContent.Js("export default input => ({ same: input.polluted === undefined, ...input });");

        Assert.That(
            content.Make("""{ "__proto__": { "polluted": 1 }, "constructor": 2 }"""),
            Is.EqualTo("""{"same":true,"__proto__":{"polluted":1},"constructor":2}""")
        );
    }

    private static EsbException Fail(string module)
    {
        using var content = ScriptedContent.Js(module);
        return Assert.Throws<EsbException>(() => content.Map.Transform(ScriptedContent.Call("{}", "application/json")))!;
    }

    // Not over a configuration, whose maps log into the log of the host.
    private static IMessageMap Open(string module)
    {
        var path = Path.Combine(TestContext.CurrentContext.WorkDirectory, $"{Guid.NewGuid():N}.js");
        File.WriteAllText(path, module);
        try
        {
            return MapFile.Open(path, TimeProvider.System);
        }
        finally
        {
            File.Delete(path);
        }
    }
}
