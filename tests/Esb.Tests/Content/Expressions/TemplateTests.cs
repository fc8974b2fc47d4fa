using Esb.Core.Configuration;
using Esb.Core.Messages;
using FsCheck;
using FsCheck.Fluent;

namespace Esb.Tests.Content.Expressions;

public sealed class TemplateTests
{
    [TestCase("plain", "plain")]
    [TestCase("", "")]
    [TestCase("{message.key}-{header.x-order}.xml", "k-7.xml")]
    [TestCase("{header.X-Order}", "7")]
    [TestCase("{property.status}", "200")]
    [TestCase("{property.a.b}", "dotted")]
    [TestCase("[{header.x-none}]", "[]")]
    [TestCase("{{\"key\": \"{message.key}\"}}", "{\"key\": \"k\"}")]
    [TestCase("{{{message.key}}}", "{k}")]
    public void Places_are_filled(string template, string expected)
    {
        var context = Some.Context(Some.Message(key: "k") with { Headers = MessageHeaders.Empty.With("x-order", "7") });
        context.SetProperty("status", 200);
        context.SetProperty("a.b", "dotted");

        var text = Compile(template, new ConfigErrors())!.Evaluate(context);

        Assert.That(text, Is.EqualTo(expected));
    }

    [TestCase("{message.nothing}", "message.id|subject")]
    [TestCase("{xpath:/order}", "is unknown")]
    [TestCase("{}", "is unknown")]
    [TestCase("{header.}", "is unknown")]
    [TestCase("{message.id", "position 1 has no partner")]
    [TestCase("a}", "position 2 has no partner")]
    [TestCase("{{a}", "position 4 has no partner")]
    public void Unknown_places_and_lonely_braces_are_configuration_errors(string template, string expected)
    {
        var errors = new ConfigErrors();

        var value = Compile(template, errors);

        Assert.That(value, Is.Null);
        Assert.That(errors.All.Single().Code, Is.EqualTo("ESB-EXPR-TEMPLATE"));
        Assert.That(errors.All.Single().Path, Is.EqualTo("somewhere"));
        Assert.That(errors.All.Single().Expected, Does.Contain(expected));
    }

    [Test]
    public void Any_text_with_its_braces_doubled_is_itself() => Prop.ForAll<NonNull<string>>(text =>
    {
        var template = text.Get.Replace("{", "{{").Replace("}", "}}");

        return Equals(Compile(template, new ConfigErrors())!.Evaluate(Some.Context()), text.Get);
    }).QuickCheckThrowOnFailure();

    private static Core.Expressions.IMessageValue? Compile(string template, ConfigErrors errors) =>
        SomeContent.Compiler().CompileTemplate(template, "somewhere", ConfigOrigin.Default, errors);
}
