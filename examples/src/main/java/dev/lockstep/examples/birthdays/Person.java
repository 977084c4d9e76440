package dev.lockstep.examples.birthdays;

import java.time.LocalDate;
import java.time.MonthDay;
import java.time.ZoneId;
import java.util.List;
import java.util.function.Function;

/** A person with a birthday and a time zone. */
public record Person(String name, MonthDay birthday, ZoneId zone) {

  private record Resident(String name, String zone) {}

  private static final List<Resident> RESIDENTS =
      List.of(
          new Resident("Teretia", "Pacific/Kiritimati"),
          new Resident("Sione", "Pacific/Tongatapu"),
          new Resident("Aroha", "Pacific/Chatham"),
          new Resident("Olivia", "Australia/Sydney"),
          new Resident("Jack", "Australia/Adelaide"),
          new Resident("Yuki", "Asia/Tokyo"),
          new Resident("Wei", "Asia/Shanghai"),
          new Resident("Suda", "Asia/Bangkok"),
          new Resident("Thiri", "Asia/Yangon"),
          new Resident("Pema", "Asia/Kathmandu"),
          new Resident("Asha", "Asia/Kolkata"),
          new Resident("Aziz", "Asia/Tashkent"),
          new Resident("Laila", "Asia/Kabul"),
          new Resident("Omar", "Asia/Dubai"),
          new Resident("Shirin", "Asia/Tehran"),
          new Resident("Amina", "Africa/Nairobi"),
          new Resident("Nomsa", "Africa/Johannesburg"),
          new Resident("Anna", "Europe/Berlin"),
          new Resident("Saoirse", "Europe/Dublin"),
          new Resident("Catarina", "Atlantic/Azores"),
          new Resident("Joana", "America/Sao_Paulo"),
          new Resident("Mary", "America/St_Johns"),
          new Resident("Grace", "America/New_York"),
          new Resident("Lupe", "America/Mexico_City"),
          new Resident("Sam", "America/Denver"),
          new Resident("Alex", "America/Los_Angeles"),
          new Resident("Kai", "Pacific/Honolulu"),
          new Resident("Hina", "Pacific/Marquesas"),
          new Resident("Tala", "Pacific/Pago_Pago"));

  /** People all around the world. */
  public static List<Person> around(Function<ZoneId, LocalDate> birthday) {
    return RESIDENTS.stream()
        .map(
            resident -> {
              ZoneId zone = ZoneId.of(resident.zone());
              return new Person(resident.name(), MonthDay.from(birthday.apply(zone)), zone);
            })
        .toList();
  }
}
