using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Delivery.Intake.Holds;

/// <summary>What configurations may say of opening hours.</summary>
public sealed class ScheduleSettingsTests
{
    [
        TestCase("""{ "from": "08:00", "to": "18:00", "days": "mon-fri", "timeZone": "Europe/Berlin" }"""),
        TestCase("""{ "from": "22:00", "to": "06:00" }"""),
        TestCase("""{ "from": "00:00", "to": "24:00" }""")
    ]
    public void Schedule_is_accepted(string schedule) => Assert.That(ErrorsOf(schedule), Is.Empty);

    [
        TestCase("""{ "from": "8", "to": "18:00" }""", "ESB-CFG-TIME", "from"),
        TestCase("""{ "from": "08:00", "to": "25:00" }""", "ESB-CFG-TIME", "to"),
        TestCase("""{ "from": "08:00" }""", "ESB-CFG-REQUIRED", "to"),
        TestCase("""{ "from": "08:00", "to": "08:00" }""", "ESB-CFG-SCHEDULE", "to"),
        TestCase("""{ "from": "08:00", "to": "18:00", "days": "weekdays" }""", "ESB-CFG-DAYS", "days"),
        TestCase("""{ "from": "08:00", "to": "18:00", "timeZone": "Europe/Atlantis" }""", "ESB-CFG-TIMEZONE", "timeZone"),
        TestCase("""{ "from": "08:00", "to": "18:00", "day": "mon" }""", "ESB-CFG-UNKNOWN", "day")
    ]
    public void Schedule_that_cannot_be_kept_is_refused_with_its_place(string schedule, string code, string place) =>
        Assert.That(
            ErrorsOf(schedule).Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { (code, $"endpoints.shop.schedule.{place}") })
        );

    private static IReadOnlyList<ConfigError> ErrorsOf(string schedule)
    {
        var folder = Directory.CreateTempSubdirectory("esb-schedule-");
        try
        {
            File.WriteAllText(
                Path.Combine(folder.FullName, "esb.json"),
                $$"""
                { "topics": { "orders": {} }, "endpoints": { "shop": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "schedule": {{schedule}} } } }
                """
            );
            BusServices.Compile(folder.FullName, new Dictionary<string, string>(), new ServiceCollection().AddEsb());
            return [];
        }
        catch (ConfigurationRefusedException ex)
        {
            return ex.Errors;
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}
