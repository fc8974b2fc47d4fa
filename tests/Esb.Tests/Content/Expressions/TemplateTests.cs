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

    [TestCase("{file.name}", "in.csv")]
    [TestCase("{message.createdAt:yyyyMMdd-HHmmss}", "20260301-230500")]
    [TestCase("{message.createdAt:dddd d MMMM yyyy}", "Sunday 1 March 2026")]
    [TestCase("{message.createdAt Europe/Berlin:yyyyMMdd HH:mm zzz}", "20260302 00:05 +01:00")]
    [TestCase("{message.createdAt America/New_York:yyyyMMdd HH:mm}", "20260301 18:05")]
    [TestCase("{message.createdAt UTC:HH:mm}", "23:05")]
    public void Dates_and_file_names_are_places(string template, string expected)
    {
        var message = Some.Message() with
        {
            CreatedAt = new DateTimeOffset(2026, 3, 2, 0, 5, 0, TimeSpan.FromHours(1)),
            Headers = MessageHeaders.Empty.With("x-file-name", "in.csv"),
        };

        Assert.That(Compile(template, new ConfigErrors())!.Evaluate(Some.Context(message)), Is.EqualTo(expected));
    }

    [TestCase("{sequence}", "42")]
    [TestCase("inv-{sequence:000000}.xml", "inv-000042.xml")]
    [TestCase("{sequence:0}", "42")]
    [TestCase("{{sequence}}", "{sequence}")]
    public void Number_of_the_message_is_a_place(string template, string expected)
    {
        var context = Some.Context();
        context.Sequence = 42;

        Assert.That(Compile(template, new ConfigErrors())!.Evaluate(context), Is.EqualTo(expected));
    }

    [TestCase("{sequence:}"), TestCase("{sequence:6}"), TestCase("{sequence:0000000000000000000}")]
    public void Width_of_a_number_is_written_in_zeros(string template)
    {
        var errors = new ConfigErrors();

        Assert.That(Compile(template, errors), Is.Null);
        Assert.That(errors.All.Single().Expected, Does.Contain("{sequence:000000}"));
    }

    [Test]
    public void Now_is_the_time_of_the_evaluation_in_utc()
    {
        var before = TimeProvider.System.GetUtcNow().UtcDateTime;

        var text = (string)Compile("{now:yyyy-MM-ddTHH:mm:ss.fffffffK}", new ConfigErrors())!.Evaluate(Some.Context())!;

        var now = DateTimeOffset.Parse(text, System.Globalization.CultureInfo.InvariantCulture);
        Assert.That(
            (now.Offset, now.UtcDateTime >= before, now.UtcDateTime <= TimeProvider.System.GetUtcNow().UtcDateTime),
            Is.EqualTo((TimeSpan.Zero, true, true))
        );
    }

    [TestCase("{now:}", "has no format")]
    [TestCase("{now Europe/Nowhere:yyyy}", "no time zone that the system knows")]
    [TestCase("{now ../etc/passwd:yyyy}", "no time zone that the system knows")]
    [TestCase("{now Europe/Berlin}", "has no format")]
    [TestCase("{nowhere:yyyy}", "is unknown")]
    [TestCase("{now:%}", "has no format")]
    [TestCase("{message.createdAt:\\}", "has no format")]
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
    public void Any_text_with_its_braces_doubled_is_itself() =>
        Prop.ForAll<NonNull<string>>(text =>
            {
                var template = text.Get.Replace("{", "{{").Replace("}", "}}");

                return Equals(Compile(template, new ConfigErrors())!.Evaluate(Some.Context()), text.Get);
            })
            .QuickCheckThrowOnFailure();

    private static Core.Expressions.IMessageValue? Compile(string template, ConfigErrors errors) =>
        SomeContent.Compiler().CompileTemplate(template, "somewhere", ConfigOrigin.Default, errors);
}
