using Esb.Core.Errors;
using Esb.Host.Logging;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using NUnit.Framework;

namespace Esb.Tests.Host.Logging;

public sealed class EsbConsoleFormatterTests
{
    private static readonly DateTimeOffset Now = new(2026, 1, 31, 7, 30, 12, 345, TimeSpan.Zero);

    [Test]
    public void Entry_is_one_line_with_time_level_and_project() =>
        Assert.That(
            Write("shop listens", "Esb.Endpoints.Http.HttpListener"),
            Is.EqualTo($"2026-01-31 07:30:12.345+00:00 info  endpoints shop listens{Environment.NewLine}")
        );

    [Test]
    public void Text_from_outside_cannot_write_lines_or_colors() =>
        Assert.That(Write("order\r\n07:30:12.345 info  host all is well\e[2J", "Esb.Host.X"), Does.Match(@"^[^\r\n\e]*\r?\n$"));

    [Test]
    public void Fault_of_the_bus_is_shown_by_its_code_and_a_surprise_with_its_stack()
    {
        var fault = Write(
            "failed",
            "Esb.Topics.X",
            new EsbException("ESB-TOPIC-UNAVAILABLE", "The broker is away.", FaultKind.Unavailable)
        );
        var surprise = Write("failed", "Esb.Topics.X", new InvalidOperationException("what?"));

        Assert.That(fault, Does.EndWith($"failed: ESB-TOPIC-UNAVAILABLE The broker is away.{Environment.NewLine}"));
        Assert.That(surprise, Does.Contain("failed: what?").And.Contain("    System.InvalidOperationException: what?"));
    }

    [Test]
    public void Colors_are_for_terminals_only()
    {
        Assert.That(Write("hello", "Esb.Host.X"), Does.Not.Contain("\e"));
        Assert.That(Write("hello", "Esb.Host.X", colored: true), Does.Contain("\e[32minfo \e[0m"));
    }

    [Test]
    public void Json_is_one_object_a_line_with_what_the_entry_names()
    {
        KeyValuePair<string, object?>[] state = [new("Endpoint", "out"), new("Attempts", 3), new("{OriginalFormat}", "x")];
        using var writer = new StringWriter();
        var entry = new LogEntry<KeyValuePair<string, object?>[]>(
            LogLevel.Error,
            "Esb.Delivery.X",
            new EventId(2402),
            state,
            new EsbException("ESB-X", "no", FaultKind.Outside),
            (_, _) => "given up\nby out"
        );

        new EsbConsoleFormatter(Options.Create(new EsbConsoleFormatterOptions { Json = true, Time = new FixedTime() })).Write(
            entry,
            null,
            writer
        );

        Assert.That(
            writer.ToString(),
            Is.EqualTo(
                """{"time":"2026-01-31T07:30:12.345+00:00","level":"error","category":"delivery","logger":"Esb.Delivery.X","event":2402,"message":"given up\nby out","endpoint":"out","attempts":3,"code":"ESB-X","exception":"no"}"""
                    + Environment.NewLine
            )
        );
    }

    [
        TestCase("Esb.Topics.Memory.MemoryTransport", "topics"),
        TestCase("Microsoft.AspNetCore.Server.Kestrel", "kestrel"),
        TestCase("MassTransit.ReceiveTransport", "masstransit"),
        TestCase("MassTransit", "masstransit")
    ]
    public void Category_is_shortened_to_who_speaks(string category, string shown) =>
        Assert.That(LogCategory.Shorten(category), Is.EqualTo(shown));

    private static string Write(string message, string category, Exception? exception = null, bool colored = false)
    {
        var options = new EsbConsoleFormatterOptions { Colored = colored, Time = new FixedTime() };
        using var writer = new StringWriter();
        var entry = new LogEntry<string>(LogLevel.Information, category, default, message, exception, (text, _) => text);
        new EsbConsoleFormatter(Options.Create(options)).Write(entry, null, writer);
        return writer.ToString();
    }

    private sealed class FixedTime : TimeProvider
    {
        public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

        public override DateTimeOffset GetUtcNow() => Now;
    }
}
