using System.CommandLine;
using System.Globalization;
using Esb.Core.Configuration;

namespace Esb.Host.Commands;

/// <summary>What an option's value must be, beyond its type.</summary>
internal static class OptionChecks
{
    public static Option<int> Within(this Option<int> option, int minimum, int maximum)
    {
        option.Validators.Add(result =>
        {
            // What is no number at all is reported by the parser.
            if (result.Tokens is [{ Value: var text }] && int.TryParse(text, CultureInfo.InvariantCulture, out var number) && (number < minimum || number > maximum))
                result.AddError($"{option.Name}: expected a number from {minimum} to {maximum}");
        });
        return option;
    }

    public static Option<string> AsDuration(this Option<string> option)
    {
        option.Validators.Add(result =>
        {
            if (!Duration.TryParse(result.GetValueOrDefault<string>()!, out _)) result.AddError($"{option.Name}: expected a duration such as 10ms or 1s");
        });
        return option;
    }

    public static Option<DateOnly?> AsDay(this Option<DateOnly?> option)
    {
        option.HelpName = "yyyy-mm-dd";
        option.CustomParser = result =>
        {
            if (result.Tokens is [{ Value: var text }] && DateOnly.TryParseExact(text, "yyyy-MM-dd", CultureInfo.InvariantCulture, DateTimeStyles.None, out var day)) return day;
            result.AddError($"{option.Name}: expected a day such as 2026-03-01");
            return null;
        };
        return option;
    }

    /// <summary>The value is an address without a password in it.</summary>
    public static Option<string> AsUrl(this Option<string> option)
    {
        option.Validators.Add(result =>
        {
            if (!Uri.TryCreate(result.GetValueOrDefault<string>(), UriKind.Absolute, out var url) || url.Scheme is not ("http" or "https"))
                result.AddError($"{option.Name}: expected an address such as http://127.0.0.1:8081");
            else if (url.UserInfo.Length > 0)
                result.AddError($"{option.Name}: {SecretOption.Warning}");
        });
        return option;
    }

    /// <summary>The values are pairs, each name once.</summary>
    public static Option<string[]> AsPairs(this Option<string[]> option)
    {
        option.Validators.Add(result =>
        {
            if (result.Tokens.Any(token => token.Value.IndexOf('=') < 1)) result.AddError($"{option.Name}: expected NAME=VALUE");
            else if (result.Tokens.GroupBy(token => token.Value.Split('=')[0]).Any(name => name.Count() > 1)) result.AddError($"{option.Name}: expected each name once");
        });
        return option;
    }
}
